import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Redis } from 'ioredis';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits, type Limits } from '#service/limits/limits.ts';
import { createRedisMetrics } from '#service/limits/metrics.ts';
import { createSharedLimits } from '#service/limits/redis/shared-limits.ts';
import { startRedis } from '#test/support/redis-server.ts';

import { cpuMs, median, wantedOf, type Bench, type BenchResult } from './bench.ts';
import { fairness } from './limits/fairness.ts';
import { refusals } from './limits/refusals.ts';
import { retries } from './limits/retries.ts';

/** Rounds of each figure, of which the median counts. */
const rounds = 5;

/** Rounds that may fail before Redis is given up. */
const triesMax = 40;
const retryMs = 500;

/** Requests in progress at once: as many as a busy pod has. */
const atOnce = 64;

type Case = {
  readonly name: string;
  readonly count: number;
  readonly goalUs: number;
  readonly rate: number;
  readonly shared: boolean;
};

const cases: readonly Case[] = [
  { name: 'decision in process', count: 100_000, goalUs: 1, rate: 1_000_000, shared: false },
  { name: 'decision with a lease', count: 100_000, goalUs: 3, rate: 1_000_000, shared: true },
  { name: 'decision by a question to Redis each', count: 10_000, goalUs: 16, rate: 39, shared: true },
];

const key = makeKey(randomBytes);

/** Keys of a case: where each request asks Redis, each has a key of its own, so that none is refused and none waits for another. */
function keysOf({ shared, rate, count }: Case): { key: string; id: string; sha256: Buffer }[] {
  return shared && rate < 40 ? Array.from({ length: count }, () => makeKey(randomBytes)) : [key];
}

/** CPU of asking, in microseconds for one request. */
async function askUs(limits: Pick<Limits, 'decide'>, count: number, keys: readonly { key: string }[]): Promise<number> {
  const requests = keys.map((each) => ({ key: each.key, clientAddress: '192.0.2.1', operation: 'getAddressState' }));
  const one = async (index: number): Promise<void> => {
    const request = requests[index % requests.length];
    if (request === undefined) return;
    const decision = await limits.decide(request);
    if (!decision.allowed) throw new Error(`a request was refused: ${decision.code}`);
    decision.release();
  };
  const ms = await cpuMs(count, async () => {
    for (let done = 0; done < count; done += atOnce) {
      await Promise.all(Array.from({ length: Math.min(atOnce, count - done) }, (_, at) => one(done + at)));
    }
  });
  return ms * 1000;
}

const noLimiter: Pick<Limits, 'decide'> = {
  decide: () =>
    Promise.resolve({
      allowed: true,
      plan: 'none',
      grants: { archive: false, liteServerTiers: [] },
      getMethods: { payer: 'anonymous' },
      streaming: { owner: 'bench', connections: 1, addresses: 10, traces: 10 },
      quota: null,
      release: () => undefined,
    }),
};

/** CPU that Redis has taken since its start, in microseconds. */
async function redisCpuUs(client: Redis): Promise<number> {
  const text = await client.info('cpu');
  const of = (field: string): number => Number(new RegExp(`^${field}:(.*)$`, 'm').exec(text)?.[1]);
  return (of('used_cpu_user') + of('used_cpu_sys')) * 1_000_000;
}

const now = (): number => performance.timeOrigin + performance.now();

async function measure(given: Case, url: string): Promise<BenchResult[]> {
  const { name, count, goalUs, rate } = given;
  const keys = keysOf(given);
  const register = new Registry();
  const shared = given.shared
    ? createSharedLimits(
        { url, api: `bench-${randomBytes(4).toString('hex')}`, onRedisFailure: 'Closed' },
        { logger: pino({ level: 'silent' }), metrics: createRedisMetrics(register), now },
      )
    : undefined;
  const plan = {
    name: 'pro',
    requestsPerSecond: rate,
    burst: rate,
    requestsPerDay: null,
    maxConcurrent: null,
    methodCosts: {},
  };
  const keyring = createKeyring({ rows: keys.map(({ id, sha256 }) => ({ id, sha256, plan: 'pro' })) });
  const limits = createLimits(
    { plans: [plan], anonymousPlan: null, network: 'mainnet' },
    { keyring, now, register, ...(shared && { shared }) },
  );
  const redis = given.shared ? new Redis(url) : undefined;
  const spent: [number, number][] = [];
  const ofRedis: number[] = [];
  for (let tries = 0; spent.length <= rounds; tries++) {
    try {
      const before = redis && (await redisCpuUs(redis));
      const ownUs = await askUs(limits, count, keys);
      if (redis !== undefined && before !== undefined) ofRedis.push(((await redisCpuUs(redis)) - before) / count);
      spent.push([ownUs, await askUs(noLimiter, count, keys)]);
    } catch (error) {
      // Redis is not here yet, or was starved by what else this machine does: the round counts for nothing.
      if (tries > triesMax) throw error;
      await sleep(retryMs);
    }
  }
  await limits.close();
  redis?.disconnect();
  const [value, baseline] = [0, 1].map((side) => median(spent.slice(1).map((pair) => pair[side] ?? 0))) as [
    number,
    number,
  ];
  const added = value - baseline;
  const pod: BenchResult = {
    name,
    value,
    unit: 'us',
    baseline: { name: 'no limiter', value: baseline },
    goal: `<= ${goalUs} us more`,
    met: added <= goalUs,
  };
  return redis === undefined
    ? [pod]
    : [pod, { name: `${name}: CPU of Redis`, value: median(ofRedis.slice(1)), unit: 'us' }];
}

function figure(name: string, value: number | undefined, unit: string, goal: number): BenchResult {
  const measured = value ?? Number.NaN;
  return { name, value: measured, unit, goal: `<= ${goal} ${unit}`, met: measured <= goal };
}

/** A million keys are loaded in a process of their own, whose memory nothing else has moved. */
async function millionKeys(): Promise<BenchResult[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    join(import.meta.dirname, 'limits/million-keys.ts'),
  ]);
  const { loadSeconds, megabytes, lookupUs, heldUpMs } = JSON.parse(stdout) as Record<string, number>;
  return [
    figure('1,000,000 keys: load', loadSeconds, 's', 3),
    figure('1,000,000 keys: memory', megabytes, 'MB', 300),
    figure('1,000,000 keys: lookup with SHA-256 and compare', lookupUs, 'us', 2),
    figure('1,000,000 keys: longest that requests wait while they are read again', heldUpMs, 'ms', 20),
  ];
}

async function decisions(): Promise<BenchResult[]> {
  const redis = await startRedis();
  const results: BenchResult[] = [];
  for (const each of cases) {
    if (!each.shared || redis !== undefined) results.push(...(await measure(each, redis?.url ?? '')));
  }
  await redis?.close();
  return results;
}

/** By the name that `--only NAME` gives. */
const measures: Readonly<Record<string, () => Promise<BenchResult[]>>> = {
  decisions,
  refusals,
  keys: millionKeys,
  fairness,
  retries,
};

export const bench: Bench = {
  about: `CPU of one decision, ${atOnce} in progress, against no limiter, and of a refusal; a keyring of a million keys; what a client far over its limit does to others, and to the CPU of a pod; --only NAME...: these figures`,
  async run(options) {
    const results: BenchResult[] = [];
    for (const name of wantedOf(options, Object.keys(measures))) results.push(...(await measures[name]!()));
    return results;
  },
};
