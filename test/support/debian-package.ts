import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian's mirrors answer within seconds; a machine without them must not hang the tests. */
const installTimeoutMs = 180_000;

/** Files of tests install at the same time, and apt-get fails while another one runs. */
const lock = join(tmpdir(), 'tonplane-apt.lock');

/** True when the program is in PATH; root on Debian installs its package first where it is not. */
export function ensureProgram(program: string, packageName = program): boolean {
  return inPath(program) || (canInstall() && install(packageName) && inPath(program));
}

function inPath(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version');
}

function install(packageName: string): boolean {
  // A server's package would start one of its own: policy-rc.d is for images, `--no-install-recommends` keeps it small.
  const options = {
    timeout: installTimeoutMs,
    stdio: 'ignore' as const,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  };
  try {
    execFileSync('flock', ['--close', lock, 'apt-get', 'update'], options);
    execFileSync(
      'flock',
      ['--close', lock, 'apt-get', 'install', '-y', '--no-install-recommends', packageName],
      options,
    );
    return true;
  } catch {
    return false;
  }
}
