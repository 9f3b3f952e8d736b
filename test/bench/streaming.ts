import { median, quantile, type Bench, type BenchResult } from './bench.ts';
import type { CallersAnswer, CallersOrder, ServerAnswer, ServerOrder } from './streaming/orders.ts';
import { startPinned, type PinnedProcess } from './streaming/processes.ts';

const CONNECTIONS = 500;

/** Deliveries of one round, with two events at least, and rounds of which the median counts. */
const DELIVERIES = 10_000;
const EVENTS_MIN = 2;
const ROUNDS = 5;

/** Subscriptions of one size. */
const SUBSCRIBES = 60;

/** Cores of the server under load, and of its callers. */
const [SERVER_CORE, CALLERS_CORE] = [0, 1];

export const bench: Bench = {
  about: `streams of one pod on one core, made blocks, beside bare ws and node:http: [--connections N] (${CONNECTIONS})`,
  async run(options) {
    const at = options.indexOf('--connections');
    const connections = at === -1 ? CONNECTIONS : Number(options[at + 1]);
    const servers = [await startServer('pod.ts'), await startServer('floor.ts')] as const;
    const [pod, floor] = servers;
    try {
      const sizes = [await growthOf(pod, connections), await growthOf(floor, connections)] as const;
      const events = Math.max(EVENTS_MIN, Math.round(DELIVERIES / connections));
      const rounds = await alternate(servers, events);
      const times = await subscriptions(pod);
      return [...memory(...sizes, connections), ...deliveries(rounds, connections, events), ...times];
    } finally {
      for (const { process, callers } of servers) {
        await callers.close();
        await process.close();
      }
    }
  },
};

type Server = {
  readonly port: number;
  readonly process: PinnedProcess<ServerOrder, ServerAnswer>;
  readonly callers: PinnedProcess<CallersOrder, CallersAnswer>;
};

async function startServer(file: string): Promise<Server> {
  const process = startPinned<ServerOrder, ServerAnswer>(file, SERVER_CORE);
  const { port } = await process.next('ready');
  return { port, process, callers: startPinned<CallersOrder, CallersAnswer>('callers.ts', CALLERS_CORE) };
}

type Bytes = { readonly rss: number; readonly heap: number };

/** Memory of one connection. */
async function growthOf({ port, process, callers }: Server, connections: number): Promise<Bytes> {
  const before = await process.ask({ kind: 'memory' }, 'memory');
  await callers.ask({ kind: 'open', port, connections }, 'opened');
  const after = await process.ask({ kind: 'memory' }, 'memory');
  return {
    rss: (after.rssBytes - before.rssBytes) / connections,
    heap: (after.heapBytes - before.heapBytes) / connections,
  };
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

async function subscriptions({ port, callers }: Server): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [addresses, goal] of [
    [10, 2],
    [1000, 10],
    [10_000, 80],
  ] as const) {
    const order = { kind: 'subscribe', port, addresses, times: SUBSCRIBES } as const;
    const { timesMs } = await callers.ask(order, 'subscribed');
    const value = quantile(timesMs, 0.99);
    const name = `subscribe with ${addresses.toLocaleString('en')} addresses`;
    results.push({ name: `${name}, p50`, value: median(timesMs), unit: 'ms' });
    results.push({
      name: `${name}, p99`,
      value,
      unit: 'ms',
      goal: `<= ${goal} ms`,
      met: value <= goal,
    });
  }
  return results;
}
