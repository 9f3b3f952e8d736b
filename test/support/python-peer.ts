import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './free-port.ts';

/** The Python v2 server (`ton-http-api` of PyPI), over a lite server of ours. */
export type PythonPeer = {
  readonly url: string;
  /** Of its process group: the server and its workers. */
  readonly group: number;
  close(): Promise<void>;
};

/** It waits 2 s for its workers and proves the chain of key blocks; a busy machine takes longer. */
const startTimeoutMs = 60_000;

/**
 * @param python interpreter with the package, as `installTonlib` gives it
 * @param globalConfig text of a `global.config.json`: its shards are numbers that `JSON.parse` would round
 */
export async function startPythonPeer(python: string, globalConfig: string): Promise<PythonPeer> {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-peer-'));
  const config = join(folder, 'global.config.json');
  writeFileSync(config, globalConfig);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    python,
    [join(import.meta.dirname, 'python-peer.py'), '--host', '127.0.0.1', '--port', port.toString()].concat([
      '--liteserver-config',
      config,
      '--tonlib-keystore',
      `${folder}/`,
    ]),
    // A group of its own: its workers are processes too, and end with it.
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  let complaint = '';
  child.stderr.on('data', (text: Buffer) => (complaint = `${complaint}${text.toString()}`.slice(-4096)));
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const close = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + startTimeoutMs; ; await sleep(100)) {
    if (await isReady(url)) return { url, group: child.pid ?? 0, close };
    if (child.exitCode !== null || Date.now() > deadline) {
      await close();
      throw new Error(`the Python server did not start: ${complaint}`);
    }
  }
}

/** Its lite server works and is known to have the whole chain. */
async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/getWorkerState`);
    const { result } = (await response.json()) as { result: Record<string, Record<string, unknown>> };
    const workers = Object.values(result);
    return (
      workers.length > 0 && workers.every((worker) => worker['is_working'] === true && worker['is_archival'] === true)
    );
  } catch {
    return false;
  }
}
