import type { Role, Tier } from './read-access.ts';
import type { BudgetOptions } from './budget.ts';
import type { ZeroStateId } from './head.ts';
import { healthDefaults } from './health.ts';
import type { HealthOptions } from './health.ts';
import type { Slice } from './slices.ts';

/** Lite server in the configuration. */
export type PoolLiteServer = {
  /** Unique name: the label in logs, metrics and traces. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** Most reads at a time; 256 when absent. */
  readonly maxInFlight?: number;
  /** Share of the reads, relative to other servers that are about as fast; 10 when absent. */
  readonly weight?: number;
  /** Tier of callers that may use it; `shared` when absent. */
  readonly tier?: Tier;
  /** `latest` when absent. */
  readonly role?: Role;
  /** Parts of the chain that it has; all when absent or null. */
  readonly slices?: readonly Slice[] | null;
  /** True when it gets no reads, but is still followed. */
  readonly cordoned?: boolean;
};

/**
 * Checks before an answer is served.
 * - `verified`: all of them. The trust chain checks the served head and every block, a proof every answer.
 * - `signed-head`: the trust chain checks masterchain blocks; answers at them are not proved.
 * - `none`: ids only.
 */
export type Trust = 'verified' | 'signed-head' | 'none';

/** Times and bounds of the pool. The defaults suit every network; tests shorten them. */
export type PoolTuning = {
  /**
   * Milliseconds without an answer after which the next lite server is asked too. It is the upper bound, and applies while there are few answers of
   * the function.
   */
  readonly slowAfterMs: number;
  /** Lower bound of the same delay. A lower one is the noise of a network, and would hedge reads that are not slow. */
  readonly hedgeMsMin: number;
  /** Budget of early second attempts: at most a tenth more queries. */
  readonly hedgeBudget: BudgetOptions;
  /** Budget of attempts after a failure: a burst when a lite server fails, and never as many again as there are reads. */
  readonly retryBudget: BudgetOptions;
  /** Milliseconds without an answer after which a lite server has failed. Its answer is still used if it comes in time. */
  readonly overdueMs: number;
  /** Most attempts of one read at a time that are not overdue. */
  readonly attemptsRunningMax: number;
  /** Milliseconds after which a query is given up: twice the lite server's own limit of 4.5 s. */
  readonly queryTimeoutMs: number;
  /** Milliseconds for which a lite server is asked to wait for the next masterchain block. Servers grant at most 10 s. */
  readonly waitMs: number;
  /** Milliseconds on top of `waitMs` until a wait counts as unanswered. Both together are how long a silent lite server stays in. */
  readonly waitMarginMs: number;
  /** Milliseconds between two reports of a lite server without waits, or of one that answers a wait at once without a newer block. */
  readonly pollMs: number;
  /** Milliseconds for proving a reported block. */
  readonly proveTimeoutMs: number;
  /** Milliseconds for proving the first head. Every key block since the anchor has to be fetched and checked. */
  readonly firstProveTimeoutMs: number;
  /** Milliseconds until a block that could not be proved is tried again. */
  readonly refusedMs: number;
  /** Milliseconds that a lite server may wait for a block that a read needs and it does not have yet. */
  readonly catchUpMs: number;
  /** Most reads that wait for a lite server with room. */
  readonly waitersMax: number;
  /** Longest wait in milliseconds. */
  readonly waiterMsMax: number;
  /** Most bytes of verified answers in memory, as received. */
  readonly cacheBytesMax: number;
  /** Milliseconds after the first use until the depth of a lite server is measured, because reads come first. */
  readonly depthFirstMs: number;
  /** Milliseconds between measurements, because edges move: half of the time in which a move has to be noticed. */
  readonly depthMs: number;
  /** Milliseconds between probes of each ejected server while no lite server is usable. */
  readonly urgentProbeMs: number;
  /** Longest pause between two attempts to connect. A recovered lite server is noticed within it. */
  readonly reconnectMsMax: number;
  /** Milliseconds after which an attempt to connect is given up: a lost packet and its repeat on a long line. */
  readonly connectTimeoutMs: number;
  /**
   * Milliseconds that a read waits for the shared cache. A Redis in the same cluster answers in 1 ms, a lite server in 10 to 100 ms. A longer wait
   * would cost more than a hit saves.
   */
  readonly sharedAnswerMs: number;
  /** Most callers with a floor in this process. */
  readonly floorCallersMax: number;
  /** Milliseconds for which a caller's floor stays after it was last written. */
  readonly floorKeptMs: number;
  /** Milliseconds that a caller with a newer block than the served head waits for that block. */
  readonly floorWaitMs: number;
  readonly health: HealthOptions;
};

export const tuningDefaults: PoolTuning = {
  slowAfterMs: 500,
  hedgeMsMin: 30,
  hedgeBudget: { perRead: 0.1, perSecond: 1, burst: 20 },
  retryBudget: { perRead: 0.5, perSecond: 50, burst: 500 },
  overdueMs: 1_500,
  attemptsRunningMax: 3,
  queryTimeoutMs: 10_000,
  waitMs: 800,
  waitMarginMs: 700,
  pollMs: 300,
  proveTimeoutMs: 8_000,
  firstProveTimeoutMs: 60_000,
  refusedMs: 2_000,
  catchUpMs: 1_000,
  // Some 10 kB each. Five lite servers with 64 reads of 50 ms at a time serve them in a sixth of a second.
  waitersMax: 1_024,
  // A fifth of the usual request's time. A longer wait is refused early, so that the caller retries.
  waiterMsMax: 2_000,
  cacheBytesMax: 64 * 1024 * 1024,
  depthFirstMs: 2_000,
  depthMs: 30_000,
  urgentProbeMs: 300,
  reconnectMsMax: 1_000,
  connectTimeoutMs: 3_000,
  sharedAnswerMs: 5,
  floorCallersMax: 100_000,
  floorKeptMs: 120_000,
  floorWaitMs: 1_000,
  health: healthDefaults,
};

/** Defaults of the custom resource for a lite server's use. */
export const useDefaults = {
  maxInFlight: 256,
  weight: 10,
  cordoned: false,
  tier: 'shared',
  role: 'latest',
  slices: null,
} as const;

export type PoolOptions = {
  readonly liteServers: readonly PoolLiteServer[];
  /** Zero state. A lite server that reports another one serves another network. */
  readonly zeroState: ZeroStateId;
  readonly trust: Trust;
  readonly tuning?: Partial<PoolTuning>;
};
