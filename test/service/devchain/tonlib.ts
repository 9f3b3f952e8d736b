import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
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

/** Python with tonlib, installed once and kept; a string says why there is none. */
export async function installTonlib(): Promise<{ python: string } | { missing: string }> {
  const run = promisify(execFile);
  const python = join(home, 'bin/python');
  const ready = join(home, tonlibPackage);
  if (existsSync(ready)) return { python };
  try {
    await run('python3', ['-m', 'venv', '--clear', home], { timeout: installMsMax });
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', tonlibPackage];
    await run(python, install, { timeout: installMsMax });
    await mkdir(ready);
    return { python };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
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
