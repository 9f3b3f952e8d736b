import { availableParallelism } from 'node:os';

import { Redis } from 'ioredis';

import { median, quantile, type BenchResult } from '../bench.ts';
import { openStoreScene, type StoreScene } from './store-scene.ts';
import { watch, type Watchers } from './watchers.ts';
import { sharedCores } from './written.ts';

/** Pods on one index and one Redis. */
const COUNTS = [1, 2, 4, 8] as const;

/** Blocks with one event for each number of pods, after those that warm up a pod. */
const BLOCKS = 60;
const WARM = 5;

/** Callers of each pod. The last of all counts. */
const WATCHERS = 10;

/** Growth of the p99 from one pod to the most. */
const GROWTH_MAX = 1.2;

type Measured = {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly redisPercent: number;
};

/** Times from a commit to the callers of several pods, and what each pod costs Redis. */
export async function pods(): Promise<BenchResult[]> {
  const scene = await openStoreScene();
  const redis = new Redis(scene.redisUrl);
  const all: Watchers[] = [];
  const measured: Measured[] = [];
  try {
    for (const count of COUNTS) {
      while (all.length < count) {
        const { url } = await scene.startPod(all.length % availableParallelism());
        all.push(await watch(url, WATCHERS, { addresses: [scene.sender], min_finality: 'finalized' }));
      }
      measured.push(await measure(scene, all, redis));
    }
    return measured.flatMap((one) => figures(one, measured[0]!));
  } finally {
    for (const watchers of all) watchers.close();
    redis.disconnect();
    await scene.close();
  }
}

async function measure(scene: StoreScene, all: readonly Watchers[], redis: Redis): Promise<Measured> {
  for (let block = 0; block < WARM; block++) await timeOfBlock(scene, all);
  const before = { cpuMs: await cpuMsOf(redis), atMs: performance.now() };
  const times: number[] = [];
  for (let block = 0; block < BLOCKS; block++) times.push(await timeOfBlock(scene, all));
  const share = (await cpuMsOf(redis)) - before.cpuMs;
  const redisPercent = (100 * share) / (performance.now() - before.atMs) / all.length;
  return { count: all.length, p50Ms: median(times), p99Ms: quantile(times, 0.99), redisPercent };
}

async function timeOfBlock({ network, nextMessage, committed }: StoreScene, all: readonly Watchers[]): Promise<number> {
  const arrivals = all.map((watchers) => watchers.arrived('finalized', WATCHERS));
  network.send(nextMessage());
  await network.step();
  const { seqno } = network.head().id;
  const committedMs = await committed(seqno);
  const writtenMs = Math.max(...(await Promise.all(arrivals)));
  // The rest of the trace.
  await network.step();
  await committed(seqno + 1);
  return writtenMs - committedMs;
}

/** CPU of Redis since its start. */
async function cpuMsOf(redis: Redis): Promise<number> {
  const text = await redis.info('cpu');
  const of = (name: string): number => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  return 1000 * (of('used_cpu_user') + of('used_cpu_sys'));
}

function figures({ count, p50Ms, p99Ms, redisPercent }: Measured, alone: Measured): BenchResult[] {
  const name = `${count} ${count === 1 ? 'pod' : 'pods'} on one index`;
  const growth = p99Ms / alone.p99Ms;
  return [
    {
      name: `${name}: commit -> last of ${WATCHERS} callers of each pod, p50`,
      value: p50Ms,
      unit: 'ms',
      baseline: { name: '1 pod', value: alone.p50Ms },
    },
    {
      name: `${name}: commit -> last of ${WATCHERS} callers of each pod, p99${sharedCores()}`,
      value: p99Ms,
      unit: 'ms',
      baseline: { name: '1 pod', value: alone.p99Ms },
      ...(count > 1 && { ratio: 1 / growth, goal: 'grows <= 20 %', met: growth <= GROWTH_MAX }),
    },
    { name: `${name}: CPU of Redis, each pod`, value: redisPercent, unit: '% of a core' },
  ];
}
