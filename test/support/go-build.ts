import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, closeSync, readFileSync, renameSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { cachePath } from './cache.ts';

/** A program that tests build from Go sources, once for a machine. */
export type GoProgram = {
  readonly name: string;
  /** Changes whenever the program would. */
  readonly key: string;
  /** Folder that `go` runs in. */
  readonly folder: string;
  /** Package to build. */
  readonly target: string;
  /** Flags for the linker besides the ones that leave symbols out. */
  readonly linkerFlags?: string;
};

/** Kubernetes 1.36 and its Go modules ask for this release. */
const goMinorMin = 26;
const progressEveryMs = 10_000;
const lockPollMs = 500;

/** Where the program is, or will be: outside the repository, in the user's cache. */
export function programPath({ name, key }: GoProgram): string {
  return cachePath(name, key, name);
}

/** Why this machine cannot build, or undefined when it can. */
export function whyNoGo(): string | undefined {
  try {
    const text = execFileSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const minor = Number(/^go1\.(\d+)/.exec(text)?.[1] ?? 0);
    return minor >= goMinorMin ? undefined : `${text.trim()} is older than go1.${goMinorMin}`;
  } catch {
    return 'there is no go in PATH';
  }
}

/**
 * Returns the program's path, building it when the cache has none. Several processes may ask at once: one builds, the
 * others wait. Progress goes to standard error.
 *
 * @throws when the build fails, with what the compiler said
 */
export async function buildGoProgram(program: GoProgram): Promise<string> {
  const path = programPath(program);
  mkdirSync(dirname(path), { recursive: true });
  const lock = `${path}.lock`;
  while (!existsSync(path)) {
    if (!takeLock(lock)) {
      await sleep(lockPollMs);
      continue;
    }
    try {
      if (!existsSync(path)) await build(program, path);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return path;
}

/** True when the lock is ours now. A lock whose process is gone is taken away. */
function takeLock(lock: string): boolean {
  try {
    const file = openSync(lock, 'wx');
    writeFileSync(file, `${process.pid}`);
    closeSync(file);
    return true;
  } catch {
    const holder = Number(readText(lock));
    // An empty lock is one that is being written.
    if (holder > 0 && holder !== process.pid && !isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function build(program: GoProgram, path: string): Promise<void> {
  const { name, folder, target } = program;
  const environment = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
  const say = (text: string): void => void process.stderr.write(`${name}: ${text}\n`);
  say('building, once for this machine');
  const total = await countPackages(folder, target, environment);
  const started = performance.now();
  const temporary = `${path}.${process.pid}`;
  const flags = ['-v', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${program.linkerFlags ?? ''}`];
  const child = spawn('go', ['build', ...flags, '-o', temporary, target], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  const ticker = setInterval(
    () => say(`${output.split('\n').length - 1} packages compiled, ${total} in all, ${seconds()} s`),
    progressEveryMs,
  );
  const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done)).finally(
    () => clearInterval(ticker),
  );
  if (code !== 0) throw new Error(`go build of ${name} failed:\n${output.slice(-4000)}`);
  renameSync(temporary, path);
  say(`built in ${seconds()} s: ${path}`);
}

/** Packages of the program, those of Go itself included; the modules are fetched by this. */
async function countPackages(folder: string, target: string, environment: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn('go', ['list', '-deps', target], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (lines += text.split('\n').length - 1));
  await new Promise((done, fail) => child.once('error', fail).once('close', done));
  return lines;
}
