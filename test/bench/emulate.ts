import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';

import { quantile, type Bench, type BenchResult } from './bench.ts';
import type { EmulateAnswer, EmulateNetwork } from './emulate/settings.ts';
import { fetchOnce, load, startContender, type BenchRequest, type Contender, type Load } from './v2/contender.ts';

/** Single requests of each server and kind, in turns, so that the machine's other work meets all of them. */
const singles = 200;

/** Requests of each server and kind before the first figure: code is compiled, and the head's accounts are in caches. */
const warmUp = 200;

/** CPU time of a load. */
const loadCpuMs = 5000;

/** A server that waits more than it works ends its load after this time. */
const loadMsMax = 60_000;

type Kind = {
  readonly name: string;
  readonly boc: (network: EmulateNetwork) => string;
  readonly transactions: number;
  readonly p50MsMax: number;
  readonly p99MsMax?: number;
  /** Emulations a second of one core's time. */
  readonly rateMin?: number;
};

const kinds: readonly Kind[] = [
  {
    name: 'jetton transfer, 6 transactions, with actions',
    boc: ({ jettons }) => jettons,
    transactions: 6,
    p50MsMax: 25,
    p99MsMax: 60,
    rateMin: 40,
  },
  {
    name: 'plain transfer, 2 transactions, with actions',
    boc: ({ plain }) => plain,
    transactions: 2,
    p50MsMax: 8,
  },
];

/** Fails unless a server answers with all transactions. A baseline that rejects the message would be fast. */
async function checkAnswer({ url, key, name }: Contender, { path, body }: BenchRequest, kind: Kind): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: body! });
  const text = await response.text();
  const count = response.ok ? Object.keys((JSON.parse(text) as EmulateAnswer).transactions).length : 0;
  if (count !== kind.transactions) {
    throw new Error(`${name}, ${kind.name}: ${count} transactions, status ${response.status}: ${text.slice(0, 300)}`);
  }
}

/** Times of single requests as their caller sees them, by server. */
async function timeSingles(contenders: readonly Contender[], request: BenchRequest): Promise<readonly number[][]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = contenders.map((): number[] => []);
  for (let turn = -warmUp; turn < singles; turn++) {
    for (const [index, contender] of contenders.entries()) {
      const startedMs = performance.now();
      await fetchOnce(contender, agent, request);
      if (turn >= 0) times[index]!.push(performance.now() - startedMs);
    }
  }
  agent.destroy();
  return times;
}

async function loadFor(contender: Contender, request: BenchRequest): Promise<Load> {
  const before = contender.cpuMs();
  const startedMs = performance.now();
  const isEnough = (): boolean => contender.cpuMs() - before > loadCpuMs || performance.now() - startedMs > loadMsMax;
  return load(contender, { name: 'emulation', next: () => request }, isEnough);
}

function atMost(name: string, ours: number, theirs: number, maxMs: number | undefined): BenchResult {
  const baseline = { name: '@ton/sandbox', value: theirs };
  const goal = maxMs === undefined ? {} : { goal: `<= ${maxMs} ms`, met: ours <= maxMs };
  return { name, value: ours, unit: 'ms', baseline, ratio: theirs / ours, ...goal };
}

async function measure(
  kind: Kind,
  network: EmulateNetwork,
  [service, sandbox]: readonly [Contender, Contender],
): Promise<BenchResult[]> {
  const request = { path: '/emulateTrace', body: JSON.stringify({ boc: kind.boc(network), with_actions: true }) };
  for (const contender of [service, sandbox]) await checkAnswer(contender, request, kind);
  const [ours = [], theirs = []] = await timeSingles([service, sandbox], request);
  const loads = [await loadFor(service, request), await loadFor(sandbox, request)] as const;
  const [rate, sandboxRate] = loads.map(({ requests, cpuMs }) => (requests * 1000) / cpuMs) as [number, number];
  const { name, p50MsMax, p99MsMax, rateMin } = kind;
  return [
    atMost(`${name}, p50`, quantile(ours, 0.5), quantile(theirs, 0.5), p50MsMax),
    atMost(`${name}, p99`, quantile(ours, 0.99), quantile(theirs, 0.99), p99MsMax),
    {
      name: `${name}, by one core's time`,
      value: rate,
      unit: 'req/s',
      baseline: { name: '@ton/sandbox', value: sandboxRate },
      ratio: rate / sandboxRate,
      ...(rateMin !== undefined && { goal: `>= ${rateMin}`, met: rate >= rateMin }),
    },
    {
      name: `${name}, CPU of a request`,
      value: 1000 / rate,
      unit: 'ms CPU',
      baseline: { name: '@ton/sandbox', value: 1000 / sandboxRate },
      ratio: rate / sandboxRate,
    },
    {
      name: `${name}, 16 callers: delay of the event loop, p99`,
      value: loads[0].loopDelayMs ?? 0,
      unit: 'ms',
      goal: '<= 20 ms',
      met: (loads[0].loopDelayMs ?? 0) <= 20,
    },
  ];
}

async function run(): Promise<BenchResult[]> {
  const lite = fork(join(import.meta.dirname, 'emulate/network.ts'));
  const [network] = (await once(lite, 'message')) as [EmulateNetwork];
  const service = await startContender('service', ['service.ts', '/api/emulate/v1'], network);
  const sandbox = await startContender('@ton/sandbox', ['../emulate/sandbox-server.ts'], network);
  try {
    const results: BenchResult[] = [];
    for (const kind of kinds) results.push(...(await measure(kind, network, [service, sandbox])));
    return results;
  } finally {
    await Promise.all([service.close(), sandbox.close()]);
    lite.disconnect();
  }
}

export const bench: Bench = {
  about: 'emulated messages over HTTP at a warm head, against @ton/sandbox over states of ton-lite-client',
  run,
};
