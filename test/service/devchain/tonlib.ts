import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The official C++ tonlib, asked through its JSON interface. */
export type Tonlib = {
  /** @throws Error with tonlib's own message */
  ask(request: object): Promise<Record<string, unknown>>;
  close(): void;
};

/** The Python package that carries the library; this version knows simplex signatures. */
const tonlibPackage = 'ton-http-api==2.0.68';

/** A download of some 60 MB on a slow line. */
const installMsMax = 150_000;

const home = resolve(import.meta.dirname, '../../../node_modules/.cache/tonplane-tonlib');

/** Python with tonlib, installed once and kept; a string says why there is none. Test files that run beside each other take turns. */
export async function installTonlib(): Promise<{ python: string } | { missing: string }> {
  const python = join(home, 'bin/python');
  const ready = join(home, tonlibPackage);
  if (existsSync(ready)) return { python };
  try {
    await mkdir(dirname(home), { recursive: true });
    const isFirst = await takeTurn(ready);
    if (isFirst) await (existsSync(ready) ? Promise.resolve() : install(python, ready)).finally(() => rmdir(turn));
    return existsSync(ready) ? { python } : { missing: 'another test file could not install it' };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
  }
}

async function install(python: string, ready: string): Promise<void> {
  const run = promisify(execFile);
  await run('python3', ['-m', 'venv', '--clear', home], { timeout: installMsMax });
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', tonlibPackage];
  await run(python, args, { timeout: installMsMax });
  await mkdir(ready);
}

/** A folder that only one can make. */
const turn = `${home}.turn`;

/** True for the one that shall install; others wait until it has. A turn left by a killed run ends with the time it may take. */
async function takeTurn(ready: string): Promise<boolean> {
  const deadline = Date.now() + 2 * installMsMax;
  for (;;) {
    try {
      await mkdir(turn);
      return true;
    } catch {
      if (existsSync(ready)) return false;
      const madeMs = (await stat(turn).catch(() => undefined))?.mtimeMs ?? Date.now();
      if (Date.now() - madeMs > 2 * installMsMax) await rmdir(turn).catch(() => undefined);
      if (Date.now() > deadline) return false;
      await sleep(200);
    }
  }
}

/** Starts tonlib on a network's configuration; nothing is kept on disk. */
export async function startTonlib(python: string, globalConfig: object): Promise<Tonlib> {
  const child = spawn(python, [join(import.meta.dirname, 'tonlib.py')], { stdio: 'pipe' });
  const ask = askLines(child);
  await ask({
    '@type': 'init',
    options: {
      '@type': 'options',
      config: {
        '@type': 'config',
        config: JSON.stringify(globalConfig),
        blockchain_name: '',
        use_callbacks_for_network: false,
        ignore_cache: true,
      },
      keystore_type: { '@type': 'keyStoreTypeInMemory' },
    },
  });
  return { ask, close: () => child.kill('SIGKILL') };
}

function askLines(child: ChildProcessWithoutNullStreams): Tonlib['ask'] {
  const waiting: ((line: string | undefined) => void)[] = [];
  let complaint = '';
  child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => waiting.shift()?.(line));
  lines.on('close', () => waiting.splice(0).forEach((settle) => settle(undefined)));
  return async (request) => {
    const line = await new Promise<string | undefined>((settle) => {
      waiting.push(settle);
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
    if (line === undefined) throw new Error(`tonlib ended: ${complaint}`);
    const answer = JSON.parse(line) as Record<string, unknown>;
    if (answer['@type'] === 'error') throw new Error(String(answer['message']));
    return answer;
  };
}
