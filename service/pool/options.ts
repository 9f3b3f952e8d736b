import type { Role, Tier } from './access.ts';
import type { BudgetOptions } from './budget.ts';
import type { ZeroStateId } from './head.ts';
import { healthDefaults } from './health.ts';
import type { HealthOptions } from './health.ts';
import type { Slice } from './slices.ts';

/** One lite server of the configuration. */
export type PoolLiteServer = {
  /** Unique; the label in logs, metrics and traces. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** Reads at a time, at most; 256 when absent. */
  readonly maxInFlight?: number;
  /** Its share of the reads, relative to the others that are about as fast; 10 when absent. */
  readonly weight?: number;
  /** Which callers may have it asked; `shared` when absent. */
  readonly tier?: Tier;
  /** `latest` when absent. */
  readonly role?: Role;
  /** The parts of the chain that it has; all when absent or null. */
  readonly slices?: readonly Slice[] | null;
  /** It gets no reads, and is followed all the same. */
  readonly cordoned?: boolean;
};

/**
 * What is checked before it is served.
 * - `verified`: everything: the served head and every block by the trust chain, every answer by its proof up to the block.
 * - `signed-head`: masterchain blocks by the trust chain; answers at them are the lite server's word.
 * - `none`: ids alone.
 */
export type Trust = 'verified' | 'signed-head' | 'none';

/** Times and bounds of the pool. The defaults suit every network; tests shorten them. */
export type PoolTuning = {
  /**
   * A lite server that has not answered for this long is joined by the next one, at the latest and while little is known of the
   * function's own latency.
   */
  readonly slowAfterMs: number;
  /** As `slowAfterMs`, at the earliest: less is the noise of a network, and would hedge what is not slow. */
  readonly hedgeMsMin: number;
  /** Early second attempts: at most a tenth more queries. */
  readonly hedgeBudget: BudgetOptions;
  /** Attempts after a failure: a burst when a lite server goes down, never as many again as there are reads. */
  readonly retryBudget: BudgetOptions;
  /** A lite server that has not answered for this long has failed, though its answer is still taken if it comes in time. */
  readonly overdueMs: number;
  /** Attempts of one read at a time that are not overdue. */
  readonly attemptsRunningMax: number;
  /** A query is given up after this long: twice the lite server's own limit of 4.5 s. */
  readonly queryTimeoutMs: number;
  /** How long a lite server is asked to wait for the next masterchain block; at most 10 s are granted. */
  readonly waitMs: number;
  /** Time on top of `waitMs` until a wait counts as unanswered; both together are how long a silent lite server stays in. */
  readonly waitMarginMs: number;
  /** Pause between two reports of a lite server that does not wait, or answers a wait at once without a newer block. */
  readonly pollMs: number;
  /** A reported block has this long to be proved. */
  readonly proveTimeoutMs: number;
  /** As `proveTimeoutMs`, before the first head: every key block since the anchor has to be fetched and checked. */
  readonly firstProveTimeoutMs: number;
  /** A block that could not be proved is not tried again for this long. */
  readonly refusedMs: number;
  /** A read that needs a block which the lite server does not have yet lets it wait this long for it. */
  readonly catchUpMs: number;
  /** Reads that wait for a lite server with room. */
  readonly waitersMax: number;
  /** And for how long, at most. */
  readonly waiterMsMax: number;
  /** Verified answers held in memory, in bytes as received. */
  readonly cacheBytesMax: number;
  /** The depth of a lite server is found out so long after it is first used: reads come first. */
  readonly depthFirstMs: number;
  /** And again so often, since its edges move: half of the time in which that has to be noticed. */
  readonly depthMs: number;
  /** While no lite server is usable, each that is out is probed this often. */
  readonly urgentProbeMs: number;
  /** Longest pause between two attempts to connect: a lite server that is back is seen within it. */
  readonly reconnectMsMax: number;
  /** An attempt to connect is given up after this long: a lost packet and its repeat on a far line. */
  readonly connectTimeoutMs: number;
  /**
   * A read waits so long for the cache of all pods. A Redis beside the pods answers in 1 ms; a lite server in 10 to 100 ms: waiting longer
   * would cost more than a hit gives.
   */
  readonly sharedAnswerMs: number;
  /** Callers whose floor is remembered in this process. */
  readonly floorCallersMax: number;
  /** What a caller has seen is remembered for this long after it was last written. */
  readonly floorKeptMs: number;
  /** A caller who has seen a newer block than the served head waits this long for it. */
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
  // Some 10 kB each; five lite servers that bear 64 reads of 50 ms at a time serve them in a sixth of a second.
  waitersMax: 1_024,
  // A fifth of the usual request's time: who waits longer is better told at once to come again.
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

/** What a configuration that does not say means, as the custom resource has it. */
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
  /** A lite server that reports another one serves another network. */
  readonly zeroState: ZeroStateId;
  readonly trust: Trust;
  readonly tuning?: Partial<PoolTuning>;
};
