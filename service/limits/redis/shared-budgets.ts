import { putBack, refill, take as takeFrom } from '../bucket.ts';
import { dayOf, giveBack, quotaOf, spend, wholeSeconds, type Budget, type Shortage } from '../budget.ts';
import type { Budgets } from '../budgets.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { LimitPlan, OnRedisFailure } from '../options.ts';
import { scriptOf } from './script-batcher.ts';
import { earlierScope } from './earlier-scope.ts';
import { createSharedConcurrency } from './shared-concurrency.ts';
import { redisTime, TAKE_ANSWER_LENGTH, takeScript, type TakeArgument } from './script.ts';
import type { RedisSession } from './redis-session.ts';

export type SharedBudgetsOptions = {
  readonly api: string;
  readonly pod: string;
  readonly onRedisFailure: OnRedisFailure;
};

export type SharedBudgetsDependencies = {
  readonly store: RedisSession;
  readonly metrics: RedisMetrics;
  /** Unix microseconds of this pod. Only differences count. */
  readonly nowUs: () => number;
};

/** Microseconds in which tokens taken in advance may be used. Unused tokens are put back with the next query. */
const LEASE_US = 50_000;

/**
 * Leases in a second. A lease is at most a twentieth of the plan's second. All pods together thus stay below 1 % of it. Slower plans take no leases.
 */
const LEASES_PER_SECOND = 20;

/** Smallest lease; a smaller one saves nothing. */
const LEASE_TOKENS_MIN = 2;

type Waiter = { readonly tokens: number; readonly settle: (shortage: Shortage | undefined) => void };

/** State of a subject besides its budget. The budget's bucket mirrors the bucket in Redis while Redis is available. */
type SharedState = {
  /** Tokens taken in Redis and not used yet. */
  stock: number;
  stockUntilUs: number;
  waiters: Waiter[];
  asking: boolean;
  /** Start of the window of the last lease time. Use in the window sets the size of a lease. */
  windowUs: number;
  usedInWindow: number;
  demand: number;
  /** Time until which the day is used up. */
  dayOverUs: number;
  /** Copy of the hash in Redis from the last answer: when it was made and copied, its day, the day's tokens. It counts if Redis loses the hash. */
  memory: Readonly<Record<'made' | 'copied' | 'day' | 'usedToday', number>>;
  /**
   * Tokens admitted while the budget is counted here, until they are reported to Redis, and the tokens of all pods on that day before. The pods'
   * deficits add up to the total deficit.
   */
  away: { usedToday: number; readonly usedBefore: number; readonly pods: number } | undefined;
  /** True when the day's use under the earlier scope was read, or does not count. */
  isEarlierRead: boolean;
};

/**
 * Budgets in Redis, exact over all pods. A busy subject of a fast plan takes small leases. A budget certain to be empty is refused without a query.
 */
export function createSharedBudgets(
  options: SharedBudgetsOptions,
  { store, metrics, nowUs: clock }: SharedBudgetsDependencies,
): Budgets & { readonly setOnRedisFailure: (rule: OnRedisFailure) => void; readonly close: () => void } {
  const { api, pod } = options;
  let { onRedisFailure } = options;
  const script = scriptOf(takeScript(redisTime));
  const { ask: askStore } = store.questions({ script, common: [], answerLength: TAKE_ANSWER_LENGTH });
  const states = new WeakMap<Budget, SharedState>();
  const earlier = earlierScope(api);

  const stateOf = (budget: Budget): SharedState => {
    let found = states.get(budget);
    if (found === undefined) states.set(budget, (found = newState()));
    return found;
  };

  const takeAway = (budget: Budget, state: SharedState, plan: LimitPlan, nowUs: number, tokens: number) => {
    if (onRedisFailure === 'Open') return undefined;
    if (onRedisFailure === 'Closed') return unavailable;
    if (state.away === undefined) {
      state.stock = 0;
      state.away = { usedToday: 0, usedBefore: budget.usedToday, pods: store.pods };
      const { deficit } = refill(budget.bucket, plan, nowUs);
      budget.bucket = { deficit: deficit / store.pods, updatedUs: nowUs };
    }
    if (budget.day < dayOf(nowUs)) state.away = { ...state.away, usedToday: 0, usedBefore: 0 };
    const shortage = spend(budget, shareOf(plan, state.away), nowUs, tokens);
    if (shortage === undefined) state.away.usedToday += tokens;
    return shortage;
  };

  /** Asks once for all waiting requests. The mirror has the time of the query, so it never shows less than Redis has. */
  const askOnce = async (subject: string, budget: Budget, state: SharedState, plan: LimitPlan): Promise<void> => {
    const sentUs = clock();
    const batch = state.waiters.splice(0);
    const least = batch[0]?.tokens ?? 0;
    const want = batch.reduce((sum, { tokens }) => sum + tokens, 0) + leaseTokens(state, plan, sentUs);
    const argument = JSON.stringify(takeArgument({ least, want }, budget, state, plan, sentUs));
    state.stock = 0;
    const answer = await askStore(`limits:${api}:{${subject}}`, argument).catch((error: unknown) => {
      state.waiters.unshift(...batch);
      throw error;
    });
    const [granted = 0, reason = 0, waitUs = 0, deficit = 0, usedToday = 0, made = 0, day = 0, wrong = 0, copied = 0] =
      answer;
    if (wrong === 1) metrics.malformed('budget');
    state.memory = { made, copied, day, usedToday };
    state.away = undefined;
    budget.bucket = { deficit, updatedUs: sentUs };
    budget.day = day;
    budget.usedToday = usedToday;
    state.dayOverUs = reason === 2 ? sentUs + waitUs : 0;
    state.stock += granted;
    state.stockUntilUs = clock() + LEASE_US;
    for (const waiter of batch) {
      if (state.stock >= waiter.tokens) {
        state.stock -= waiter.tokens;
        waiter.settle(undefined);
        continue;
      }
      const shortage = knownShortage(budget, state, plan, sentUs, waiter.tokens);
      if (shortage === undefined) state.waiters.push(waiter);
      else waiter.settle(shortage);
    }
  };

  /** Reads today's use under the earlier scope. The use counts like a hash that Redis has lost. */
  const readEarlier = async (subject: string, state: SharedState, plan: LimitPlan): Promise<void> => {
    if (earlier !== undefined && plan.requestsPerDay !== null) {
      const { day, n: used } = await store.fields(`limits:${earlier}:{${subject}}`);
      if (isCount(day) && isCount(used)) {
        state.memory = { made: 0, copied: 0, day: Number(day), usedToday: Number(used) };
      }
    }
    state.isEarlierRead = true;
  };

  const ask = async (subject: string, budget: Budget, state: SharedState, plan: LimitPlan): Promise<void> => {
    state.asking = true;
    try {
      if (!state.isEarlierRead) await readEarlier(subject, state, plan);
      while (state.waiters.length > 0) await askOnce(subject, budget, state, plan);
    } catch {
      // The store has logged why it is unavailable. The waiting requests follow the rule for that case.
      for (const { tokens, settle } of state.waiters.splice(0)) {
        settle(takeAway(budget, state, plan, clock(), tokens));
      }
    } finally {
      state.asking = false;
    }
  };

  const { takeSlot, freeSlot, close } = createSharedConcurrency(
    { api, pod, rule: () => onRedisFailure },
    { store, metrics },
  );

  return {
    takeSlot,
    freeSlot,
    close,
    setOnRedisFailure(rule) {
      onRedisFailure = rule;
    },
    take(subject, budget, plan, nowUs, tokens) {
      if (tokens === 0 || (plan.requestsPerSecond === 0 && plan.requestsPerDay === null)) return undefined;
      const state = stateOf(budget);
      countDemand(state, nowUs, tokens);
      if (!store.here) return takeAway(budget, state, plan, nowUs, tokens);
      if (state.away === undefined && !state.asking) {
        if (state.stock >= tokens && nowUs < state.stockUntilUs) {
          state.stock -= tokens;
          metrics.leaseHit();
          return undefined;
        }
        const shortage = knownShortage(budget, state, plan, nowUs, tokens);
        if (shortage !== undefined) return shortage;
      }
      const { promise, resolve } = Promise.withResolvers<Shortage | undefined>();
      state.waiters.push({ tokens, settle: resolve });
      if (!state.asking) void ask(subject, budget, state, plan);
      return promise;
    },
    shortage(budget, plan, nowUs, tokens) {
      const state = stateOf(budget);
      if (tokens === 0 || !store.here || state.away !== undefined || state.asking) return undefined;
      const isStocked = state.stock >= tokens && nowUs < state.stockUntilUs;
      return isStocked ? undefined : knownShortage(budget, state, plan, nowUs, tokens);
    },
    giveBack(budget, tokens) {
      const state = stateOf(budget);
      if (store.here && state.away === undefined) state.stock += tokens;
      else if (onRedisFailure === 'Local') giveBack(budget, tokens);
    },
    quota(budget, plan, nowUs) {
      if (plan.requestsPerSecond === 0) return null;
      const state = stateOf(budget);
      return quotaOf(putBack(refill(budget.bucket, plan, nowUs), state.stock), plan);
    },
  };
}

/** Reports whether a text is a count written by a script: at most 10^12. */
const isCount = (text: string | undefined): boolean => text !== undefined && /^\d{1,12}$/.test(text);

/** The return of Redis is unknown. One second is soon, but not at once. */
const unavailable: Shortage = { reason: 'unavailable', retryAfterSeconds: 1 };

function newState(): SharedState {
  return {
    stock: 0,
    stockUntilUs: 0,
    waiters: [],
    asking: false,
    windowUs: 0,
    usedInWindow: 0,
    demand: 0,
    dayOverUs: 0,
    memory: { made: 0, copied: 0, day: 0, usedToday: 0 },
    away: undefined,
    isEarlierRead: false,
  };
}

/** Returns a shortage that is certain without a query, because other pods only take more. */
function knownShortage(
  budget: Budget,
  state: SharedState,
  plan: LimitPlan,
  nowUs: number,
  tokens: number,
): Shortage | undefined {
  if (nowUs < state.dayOverUs) {
    return { reason: 'day', retryAfterSeconds: wholeSeconds(state.dayOverUs - nowUs) };
  }
  if (plan.requestsPerSecond === 0) return undefined;
  const bucket = putBack(refill(budget.bucket, plan, nowUs), state.stock);
  const { admitted, waitUs } = takeFrom(bucket, plan, nowUs, tokens);
  return admitted ? undefined : { reason: 'rate', retryAfterSeconds: wholeSeconds(waitUs) };
}

/** Returns the tokens to take in advance; 0 for an idle subject or a slow plan. */
function leaseTokens(state: SharedState, plan: LimitPlan, nowUs: number): number {
  if (nowUs - state.windowUs > 2 * LEASE_US) return 0;
  const tokens = Math.min(Math.floor(plan.requestsPerSecond / LEASES_PER_SECOND), state.demand);
  return tokens >= LEASE_TOKENS_MIN ? tokens : 0;
}

/**
 * Returns the argument of `takeScript`.
 * @param least tokens of the first request; `want` of all requests and the lease
 */
function takeArgument(
  { least, want }: { readonly least: number; readonly want: number },
  budget: Budget,
  state: SharedState,
  plan: LimitPlan,
  nowUs: number,
): TakeArgument {
  const wanted = { plan: numbersOf(plan), least, want, back: state.stock };
  const copy = copyOf(budget, state, plan, nowUs);
  const { away } = state;
  if (away === undefined) return { ...wanted, copy };
  const deficit = Math.ceil(refill(budget.bucket, shareOf(plan, away), nowUs).deficit);
  return { ...wanted, copy, away: { deficit, usedToday: away.usedToday, ofAllPods: deficit * away.pods } };
}

/** Returns the numbers of a plan: its rates and bounds. */
function numbersOf(plan: LimitPlan): TakeArgument['plan'] {
  return Object.fromEntries(
    Object.entries(plan).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  );
}

/** Returns the pod's copy of the hash. A deficit refilled by now counts as none. A deficit of the time without Redis is owed apart. */
function copyOf(
  budget: Budget,
  { away, memory }: SharedState,
  plan: LimitPlan,
  nowUs: number,
): NonNullable<TakeArgument['copy']> {
  const hasDeficit = memory.made !== 0 && plan.requestsPerSecond > 0 && away === undefined;
  return { ...memory, deficit: hasDeficit ? Math.floor(refill(budget.bucket, plan, nowUs).deficit) : 0 };
}

/** Counts demand: the use within the last whole lease time. */
function countDemand(state: SharedState, nowUs: number, tokens: number): void {
  if (nowUs - state.windowUs >= LEASE_US) {
    state.demand = nowUs - state.windowUs < 2 * LEASE_US ? state.usedInWindow : 0;
    state.windowUs = nowUs;
    state.usedInWindow = 0;
  }
  state.usedInWindow += tokens;
}

/** Returns one pod's part of a plan, for the time when the use of other pods is unknown. */
function shareOf(
  plan: LimitPlan,
  { usedBefore, pods }: { readonly usedBefore: number; readonly pods: number },
): LimitPlan {
  const { requestsPerSecond, burst, requestsPerDay: day } = plan;
  return {
    ...plan,
    requestsPerSecond: requestsPerSecond / pods,
    burst: Math.max(1, burst / pods),
    requestsPerDay: day === null ? null : usedBefore + Math.max(0, day - usedBefore) / pods,
  };
}
