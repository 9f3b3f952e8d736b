import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type BenchResult } from '../bench.ts';
import { liveAccount } from './orders.ts';
import { startCallers, startServer, type Server } from './servers.ts';

/** 10,000 connections come back within 20 s. */
const PER_SECOND = 500;

/** Connections that stay open, and their events. */
const LIVE = 100;
const EVENT_MS = 100;
const EVENTS_MIN = 30;

/** Callers come back after a minute, at a pod that had connections all the time. */
export async function resumes(connections: number): Promise<BenchResult[]> {
  const server = await startServer('pod.ts');
  const { port, process, callers } = server;
  const others = startCallers();
  try {
    await callers.ask({ kind: 'open', port, connections: LIVE, account: liveAccount }, 'opened');
    const { cursor } = await process.ask({ kind: 'history' }, 'history');
    const before = await latencies(server, sleep(EVENTS_MIN * EVENT_MS));
    const { cpuMs: beforeMs } = await process.ask({ kind: 'cpu' }, 'cpu');
    const resumed = others.ask({ kind: 'resume', port, connections, perSecond: PER_SECOND, cursor }, 'resumed');
    const during = await latencies(server, resumed);
    const { cpuMs: afterMs } = await process.ask({ kind: 'cpu' }, 'cpu');
    const answer = quantile((await resumed).timesMs, 0.99);
    const [usual, live] = [quantile(before, 0.99), quantile(during, 0.99)];
    const name = `${connections.toLocaleString('en')} resumes, ${PER_SECOND} a second`;
    const cpuMs = (afterMs - beforeMs) / connections;
    return [
      { name: `${name}: CPU of the pod, each`, value: cpuMs, unit: 'ms', goal: '<= 2 ms', met: cpuMs <= 2 },
      { name: `${name}: answer, p99`, value: answer, unit: 'ms', goal: '<= 1 s', met: answer <= 1000 },
      {
        name: `${name}: event to ${LIVE} others, p99`,
        value: live,
        unit: 'ms',
        baseline: { name: 'before', value: usual },
        ratio: usual / live,
        goal: '<= 2x',
        met: live <= 2 * usual,
      },
    ];
  } finally {
    await others.close();
    await server.close();
  }
}

/** Times from a publication to the last byte at the connections that stay open, until the work is done. */
async function latencies({ process, callers }: Server, work: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const over = new AbortController();
  const done = work.finally(() => over.abort());
  while (!over.signal.aborted || times.length < EVENTS_MIN) {
    const arrived = callers.ask({ kind: 'await', events: 1 }, 'arrived');
    const startMs = performance.timeOrigin + performance.now();
    await process.ask({ kind: 'live' }, 'live');
    times.push((await arrived).atMs - startMs);
    await sleep(EVENT_MS);
  }
  await done;
  return times;
}
