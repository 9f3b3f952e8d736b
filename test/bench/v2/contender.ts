import { fork, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';

import { quantile } from '../bench.ts';

/** What the parent tells a server's process: its first message, then `usage` as often as it likes. */
export type ServerSettings = {
  readonly globalConfig: string;
  readonly liteServer: { readonly host: string; readonly port: number; readonly publicKey: string };
};

/** What a server's process says when it serves. */
export type ServerReady = { readonly url: string; readonly key: string };

/** CPU time of a process since its start, all threads; delay of its event loop since it was asked last. */
export type Usage = { readonly cpuMs: number; readonly loopDelayMs?: number };

/** One server under load. */
export type Contender = {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  usage(): Promise<Usage>;
  /** CPU time of the server since its start, as the system counts it: in steps of 10 ms. */
  readonly cpuMs: () => number;
  close(): Promise<void>;
};

/** Starts a server in a process of its own, so that its CPU time is its own; Node gets what the benchmark got. */
export async function startContender(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  settings: ServerSettings,
): Promise<Contender> {
  const child = fork(join(import.meta.dirname, file), args);
  child.send(settings);
  const { url, key } = (await nextMessage(child)) as ServerReady;
  return {
    name,
    url,
    key,
    cpuMs: () => cpuMsOf(statOf(String(child.pid))),
    usage: async () => {
      child.send('usage');
      return (await nextMessage(child)) as Usage;
    },
    close: async () => {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a server under load ended with ${String(code)}`);
  });
  const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [unknown];
  ended.catch(() => undefined);
  waiting.abort();
  return message;
}

/** Linux counts CPU time in hundredths of a second. */
const tickMs = 10;

/** CPU time of all processes of a group, where the system shows it. */
export function groupCpuMs(group: number): number {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => statOf(pid))
    .filter((fields) => Number(fields[2]) === group)
    .reduce((sum, fields) => sum + cpuMsOf(fields), 0);
}

function cpuMsOf(fields: readonly string[]): number {
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Fields behind the name of the process, which may hold spaces. */
function statOf(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** One request; a body makes it a POST. */
export type BenchRequest = { readonly path: string; readonly body?: string };

/** Requests of one kind. */
export type Scenario = {
  readonly name: string;
  /** @param draw a number below `n`, evenly */
  readonly next: (draw: (n: number) => number) => BenchRequest;
};

export type Load = {
  readonly requests: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly loopDelayMs: number | undefined;
  /** Time of a request as its caller sees it. */
  readonly p50Ms: number;
};

/** Callers beside each other, each on a connection of its own. */
const connections = 16;

/** Asks as fast as the answers come, until it is enough. */
export async function load(contender: Contender, scenario: Scenario, isEnough: () => boolean): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const before = await contender.usage();
  const startedMs = performance.now();
  const times: number[] = [];
  const callers = Array.from({ length: connections }, async () => {
    while (!isEnough()) {
      const sentMs = performance.now();
      await fetchOnce(contender, agent, scenario.next(randomInt));
      times.push(performance.now() - sentMs);
    }
  });
  await Promise.all(callers);
  const wallMs = performance.now() - startedMs;
  const after = await contender.usage();
  agent.destroy();
  return {
    requests: times.length,
    wallMs,
    cpuMs: after.cpuMs - before.cpuMs,
    loopDelayMs: after.loopDelayMs,
    p50Ms: quantile(times, 0.5),
  };
}

/** Rejects unless the answer is 200. */
export function fetchOnce({ url, key }: Contender, agent: Agent, { path, body }: BenchRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(`${url}${path}`, { agent, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks).toString().slice(0, 300)}`));
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
