import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { serviceProgram } from './programs.ts';
import { projectRoot, serviceFlags } from './service-flags.ts';

/** The slowest start seen on a busy machine took 8 s. */
const startTimeoutMs = 120_000;

/** The service as a user starts it: a process of its own. */
export type ServiceProcess = {
  readonly url: string;
  readonly internalUrl: string;
  readonly pid: number | undefined;
  /** Development key; empty in the `api` role. */
  readonly key: string;
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null }>;
};

/** Options of a private or recorded network that takes free ports: others on the machine may use the default ones. */
export const freePorts = ['--port', '0', '--internal-port', '0', '--lite-server-port', '0'] as const;

/** Runs the service with these arguments to its end. */
export async function runToEnd(
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { child, output } = launch(serviceProgram, args, {});
  const code = await exitOf(child);
  return { code, ...output() };
}

/**
 * Starts the service on free ports and waits until `/readyz` says yes.
 *
 * @param args further arguments; `--data` is a temporary folder unless given; a private or recorded network has an index only with `--index`, as a Postgres
 *   beside each would make the tests slow
 * @param options.entry module to run, default that of [programs](programs.ts)
 * @param options.flags of Node, default those of `npm start`
 */
export async function startService(
  args: readonly string[] = [],
  options: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly entry?: string;
    readonly flags?: readonly string[];
  } = {},
): Promise<ServiceProcess> {
  const { environment = {}, entry = serviceProgram, flags } = options;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
  const data = args.includes('--data') ? [] : ['--data', folder];
  const isDev = !args.some((arg) => ['--manifest', '--network'].includes(arg));
  const index = isDev && !args.includes('--index') ? ['--no-index'] : [];
  const hasLitePort = !isDev || args.includes('--lite-server-port');
  const ports = hasLitePort ? freePorts.slice(0, 4) : freePorts;
  const { child, output } = launch(entry, [...args, ...ports, ...data, ...index], environment, flags);
  child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const { stdout, stderr } = output();
    const at = addresses(stdout);
    if (at !== undefined && (await isReady(at.internalUrl))) {
      return {
        ...at,
        pid: child.pid,
        key: /key +(ton_\w+)/.exec(stdout)?.[1] ?? '',
        stdout: () => output().stdout,
        stderr: () => output().stderr,
        stop: (signal = 'SIGINT') => stop(child, signal),
      };
    }
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${stdout}\n${stderr}`);
    }
    await sleep(50);
  }
}

function launch(
  entry: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  flags: readonly string[] = serviceFlags,
) {
  const child = spawn(process.execPath, [...flags, entry, ...args], {
    cwd: projectRoot,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (chunks.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (chunks.stderr += text));
  return { child, output: () => ({ ...chunks }) };
}

/** Where it listens: from the welcome text of the `dev` role, from `--json`, or the log line of the `api` role. */
function addresses(stdout: string): { url: string; internalUrl: string } | undefined {
  if (stdout.startsWith('{"title"') && stdout.endsWith('\n')) {
    return JSON.parse(stdout.slice(0, stdout.indexOf('\n'))) as { url: string; internalUrl: string };
  }
  const url = /API +(http:\S+)\/api\/v2/.exec(stdout)?.[1];
  const internalUrl = /internal +(http:\S+?)\/status/.exec(stdout)?.[1];
  if (url !== undefined && internalUrl !== undefined) return { url, internalUrl };
  const started = /^\{.*"msg":"started".*\}$/m.exec(stdout)?.[0];
  if (started === undefined) return undefined;
  // An indexer has no public port.
  const line = JSON.parse(started) as { host: string; port?: number; internalPort: number };
  return { url: `http://${line.host}:${line.port ?? 0}`, internalUrl: `http://${line.host}:${line.internalPort}` };
}

async function isReady(internalUrl: string): Promise<boolean> {
  const response = await fetch(`${internalUrl}/readyz`).catch(() => undefined);
  return response?.status === 200;
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<{ code: number | null }> {
  child.kill(signal);
  return { code: await exitOf(child) };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((done) => child.once('close', done));
}
