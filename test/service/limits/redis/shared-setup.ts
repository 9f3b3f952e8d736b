import { randomBytes } from 'node:crypto';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createKeyring, type KeyRow } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits, type Decision, type Limits } from '#service/limits/limits.ts';
import { createRedisMetrics } from '#service/limits/metrics.ts';
import type { LimitPlan } from '#service/limits/options.ts';
import { createSharedLimits } from '#service/limits/redis/shared-limits.ts';

export const planOf = (more: Partial<LimitPlan> = {}): LimitPlan => ({
  name: 'pro',
  requestsPerSecond: 25,
  burst: 25,
  requestsPerDay: null,
  maxConcurrent: null,
  methodCosts: {},
  ...more,
});

export type SharedPod = {
  readonly limits: Limits;
  readonly register: Registry;
  readonly isHere: () => Promise<boolean>;
};

export type SharedSetup = {
  readonly url: string;
  readonly plan?: LimitPlan;
  /** Plan of callers without a key; none by default. */
  readonly anonymousPlan?: string;
  readonly rows?: readonly Partial<KeyRow>[];
  readonly onRedisFailure?: 'Local' | 'Open' | 'Closed';
  /** Scope of the TonApi; by default a scope that no other test has. */
  readonly api?: string;
  /** Keys of another start, instead of new ones. */
  readonly keys?: readonly ReturnType<typeof makeKey>[];
  /** Milliseconds each pod's clock is off. */
  readonly skewsMs?: readonly number[];
};

/** Starts pods of one API with a name of its own, in this process, each with its connection. Resolves when each has found its Redis. */
export async function startPods(count: number, setup: SharedSetup) {
  const made = (setup.rows ?? [{}]).map((row, at) => ({ ...(setup.keys?.[at] ?? makeKey(randomBytes)), row }));
  const rows = made.map(({ id, sha256, row }) => ({ id, sha256, plan: 'pro', ...row }));
  const api = setup.api ?? `test-${randomBytes(6).toString('hex')}`;
  let absences = 0;
  const logger = pino(
    { level: 'warn' },
    { write: (line: string) => (absences += Number(line.includes('redis is away'))) },
  );
  const pods = Array.from({ length: count }, (_, index): SharedPod => {
    const register = new Registry();
    const metrics = createRedisMetrics(register);
    const now = (): number => performance.timeOrigin + performance.now() + (setup.skewsMs?.[index] ?? 0);
    const shared = createSharedLimits(
      { url: setup.url, api, onRedisFailure: setup.onRedisFailure ?? 'Local' },
      { logger, metrics, now },
    );
    const limits = createLimits(
      { plans: [setup.plan ?? planOf()], anonymousPlan: setup.anonymousPlan ?? null, network: 'mainnet' },
      { keyring: createKeyring({ rows }), now, register, shared },
    );
    return { limits, register, isHere: async () => (await valueOf(register, 'ton_limits_redis_away')) === 0 };
  });
  await untilAll(pods, true);
  return {
    api,
    pods,
    made,
    keys: made.map(({ key }) => key),
    ids: made.map(({ id }) => id),
    /** Times that a pod found its Redis slow or absent. */
    absences: () => absences,
    close: () => Promise.all(pods.map(({ limits }) => limits.close())),
  };
}

/** Waits until every pod reports that Redis is available, or that it is not. */
export async function untilAll(pods: readonly SharedPod[], here: boolean): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline;) {
    const states = await Promise.all(pods.map(({ isHere }) => isHere()));
    if (states.every((state) => state === here)) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error(`redis did not become ${here ? 'here' : 'away'}`);
}

export async function valueOf(register: Registry, metric: string): Promise<number> {
  const found = await register.getSingleMetric(metric)?.get();
  return found?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

export const askWith =
  (key: string | undefined) =>
  ({ limits }: SharedPod): Promise<Decision> =>
    limits.decide({ key, clientAddress: '192.0.2.1', operation: 'getAddressState' });

/** Number of admitted requests, time of the last query, and time of the last answer. */
export type Loaded = { readonly admitted: number; readonly askedMs: number; readonly elapsedMs: number };

/** Sends requests until the time is over, `perTick` to each pod every 5 ms. */
export async function load(
  pods: readonly SharedPod[],
  ms: number,
  perTick: (pod: number, elapsedMs: number) => number,
  ask: (pod: SharedPod) => Promise<Decision>,
): Promise<Loaded> {
  const startedMs = performance.now();
  let [admitted, askedMs] = [0, 0];
  const open: Promise<void>[] = [];
  const askOnce = async (pod: SharedPod): Promise<void> => {
    const decision = await ask(pod);
    admitted += Number(decision.allowed);
    if (decision.allowed) decision.release();
  };
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - startedMs) {
    pods.forEach((pod, index) => {
      for (let asked = perTick(index, elapsedMs); asked > 0; asked--) {
        askedMs = elapsedMs;
        open.push(askOnce(pod));
      }
    });
    await new Promise((done) => setTimeout(done, 5));
  }
  await Promise.all(open);
  return { admitted, askedMs, elapsedMs: performance.now() - startedMs };
}

/**
 * Loads the pods of one new API after the other, until Redis was there for each pod during the whole load. On a busy machine Redis is slow at
 * times, and the pods then follow `onRedisFailure`.
 */
export async function loadShared(
  count: number,
  setup: SharedSetup,
  ms: number,
  perTick: (pod: number, elapsedMs: number) => number,
): Promise<Loaded & { readonly pods: readonly SharedPod[] }> {
  for (;;) {
    const { pods, keys, absences, close } = await startPods(count, setup);
    const before = absences();
    const loaded = await load(pods, ms, perTick, (pod) => askWith(keys[pods.indexOf(pod) % keys.length])(pod));
    const isWhole = absences() === before;
    await close();
    if (isWhole) return { ...loaded, pods };
  }
}
