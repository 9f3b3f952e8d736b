import { median, quantile, type BenchResult } from '../bench.ts';
import { watchedAccount } from './orders.ts';
import { startCallers, startServer, type Server } from './servers.ts';

// A pod whose blocks are made in its process, in turns with the floor of the machine.

/** Deliveries of one round, with two events at least, and rounds of which the median counts. */
const DELIVERIES = 10_000;
const EVENTS_MIN = 2;
const ROUNDS = 5;

/** Subscriptions of one size. The p99 of few is their worst. */
const SUBSCRIBES = 200;

/** Connections before the first measurement of memory, at most: they compile the code. */
const WARM_MAX = 100;

/** Seconds of traffic that nothing matches. Each connection has a ping or a comment in this time. */
const IDLE_SECONDS = 20;

/** Parts of the bench whose blocks are made. */
export const madeParts = ['memory', 'idle', 'deliveries', 'subscribe'] as const;

type MadePart = (typeof madeParts)[number];

/** @param connections of the pod and of the floor */
export async function madeBlocks(connections: number, parts: readonly MadePart[]): Promise<BenchResult[]> {
  const servers = [await startServer('pod.ts'), await startServer('floor.ts')];
  const [pod, floor] = servers as [Server, Server];
  const results: BenchResult[] = [];
  const has = (part: MadePart): boolean => parts.includes(part);
  try {
    const sizes = [await growthOf(pod, connections), await growthOf(floor, connections)] as const;
    if (has('memory')) results.push(...memory(...sizes, connections));
    if (has('idle')) results.push(await idleCpu(pod, connections));
    if (has('deliveries')) {
      const events = Math.max(EVENTS_MIN, Math.round(DELIVERIES / connections));
      results.push(...deliveries(await alternate(servers, events), connections, events));
    }
    if (has('subscribe')) results.push(...(await subscriptions(pod, floor)));
    return results;
  } finally {
    for (const server of servers) await server.close();
  }
}

type Bytes = { readonly rss: number; readonly heap: number };

/** Memory of one connection. */
async function growthOf({ port, process, callers }: Server, connections: number): Promise<Bytes> {
  const open = { kind: 'open', port, account: watchedAccount } as const;
  const warm = Math.min(WARM_MAX, Math.floor(connections / 2));
  await callers.ask({ ...open, connections: warm }, 'opened');
  const before = await process.ask({ kind: 'memory' }, 'memory');
  await callers.ask({ ...open, connections: connections - warm }, 'opened');
  const after = await process.ask({ kind: 'memory' }, 'memory');
  return {
    rss: (after.rssBytes - before.rssBytes) / (connections - warm),
    heap: (after.heapBytes - before.heapBytes) / (connections - warm),
  };
}

async function idleCpu({ process }: Server, connections: number): Promise<BenchResult> {
  const { cpuPercent } = await process.ask({ kind: 'traffic', seconds: IDLE_SECONDS }, 'traffic');
  const name = `CPU of ${connections} connections while 100 transactions a second match none`;
  return { name, value: cpuPercent, unit: '% of a core', goal: '<= 2 %', met: cpuPercent <= 2 };
}

type Round = { readonly cpuMs: number; readonly loopMs: number; readonly lastMs: number };

async function publish({ process, callers }: Server, events: number): Promise<Round> {
  const arrived = callers.ask({ kind: 'await', events }, 'arrived');
  const startMs = performance.timeOrigin + performance.now();
  const published = await process.ask({ kind: 'publish', events }, 'published');
  return { ...published, lastMs: (await arrived).atMs - startMs };
}

type Rounds = { readonly many: readonly Round[]; readonly single: readonly Round[] };

/** Rounds of pod and floor in turns: what else runs on the machine slows both. */
async function alternate(servers: readonly Server[], events: number): Promise<readonly Rounds[]> {
  const rounds = servers.map(() => ({ many: [] as Round[], single: [] as Round[] }));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [which, server] of servers.entries()) {
      const [many, single] = [await publish(server, events), await publish(server, 1)];
      // The first round warms up.
      if (round === 0) continue;
      rounds[which]!.many.push(many);
      rounds[which]!.single.push(single);
    }
  }
  return rounds;
}

function memory(pod: Bytes, floor: Bytes, connections: number): BenchResult[] {
  const goals = { rss: 24, heap: 12 } as const;
  return (['rss', 'heap'] as const).map((kind) => {
    const [value, base] = [pod[kind] / 1024, floor[kind] / 1024];
    const goal = goals[kind];
    return {
      name: `${kind === 'rss' ? 'RSS' : 'heap'} of a connection with 10 addresses, ${connections} connections`,
      value,
      unit: 'KB',
      baseline: { name: 'bare', value: base },
      goal: `<= ${goal} KB`,
      met: value <= goal,
    };
  });
}

/** Deliveries by one core's time: CPU of the process, so that other work on the machine does not count. */
function deliveries([pod, floor]: readonly Rounds[], connections: number, events: number): BenchResult[] {
  const rateOf = ({ many }: Rounds): number => (events * connections * 1000) / median(many.map(({ cpuMs }) => cpuMs));
  const [rate, bare] = [rateOf(pod!), rateOf(floor!)];
  const lastMs = (of: Rounds): number => median(of.single.map((round) => round.lastMs));
  const loopMs = median(pod!.single.map((round) => round.loopMs));
  return [
    {
      name: "events of 2.4 KB, by one core's time",
      value: rate,
      unit: 'deliveries/s',
      baseline: { name: 'bare', value: bare },
      ratio: rate / bare,
      goal: '>= 40,000, >= 0.5x',
      met: rate >= 40_000 && rate / bare >= 0.5,
    },
    {
      name: `one event to all ${connections}: last byte, p50`,
      value: lastMs(pod!),
      unit: 'ms',
      baseline: { name: 'bare', value: lastMs(floor!) },
      ratio: lastMs(floor!) / lastMs(pod!),
    },
    {
      name: `one event to all ${connections}: longest turn of the loop, p50`,
      value: loopMs,
      unit: 'ms CPU',
      baseline: { name: 'bare', value: median(floor!.single.map((round) => round.loopMs)) },
      goal: '<= 20 ms',
      met: loopMs <= 20,
    },
  ];
}

/**
 * The bare server answers the same messages at once. A caller that has no other connection subscribes: the collector of a process with
 * thousands would be part of the times.
 */
async function subscriptions(pod: Server, floor: Server): Promise<BenchResult[]> {
  const caller = startCallers();
  try {
    return await subscriptionsBy(caller, pod, floor);
  } finally {
    await caller.close();
  }
}

async function subscriptionsBy(caller: Server['callers'], pod: Server, floor: Server): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [addresses, goal] of [
    [10, 2],
    [1000, 10],
    [10_000, 80],
  ] as const) {
    const measure = async ({ port }: Server): Promise<readonly number[]> => {
      const order = { kind: 'subscribe', port, addresses, times: SUBSCRIBES } as const;
      return (await caller.ask(order, 'subscribed')).timesMs;
    };
    const [timesMs, bareMs] = [await measure(pod), await measure(floor)];
    const value = quantile(timesMs, 0.99);
    const bareOf = (q: number): NonNullable<BenchResult['baseline']> => ({ name: 'bare', value: quantile(bareMs, q) });
    const name = `subscribe with ${addresses.toLocaleString('en')} addresses`;
    results.push({ name: `${name}, p50`, value: median(timesMs), unit: 'ms', baseline: bareOf(0.5) });
    results.push({
      name: `${name}, p99`,
      value,
      unit: 'ms',
      baseline: bareOf(0.99),
      goal: `<= ${goal} ms`,
      met: value <= goal,
    });
  }
  return results;
}
