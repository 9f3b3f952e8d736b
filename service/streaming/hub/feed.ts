import type { Change, Subscription, TraceSnapshot } from '../changes.ts';
import type { LevelsPlace } from '../request/cursor.ts';

/** Way of changes below `finalized` to the connections, as connections use it. */
export type Feed = {
  /** Resolves when each matching connection has the changes in its queue. */
  readonly publish: (changes: readonly Change[]) => Promise<void>;
  /** Takes a final part of a trace that goes on for the shared log; false when the log of this process takes it. */
  readonly sharePart: (part: TraceSnapshot) => boolean;
  /** Resolves when the log of this process has all final parts that were shared until now. */
  readonly partsShared: () => Promise<void>;
  /** Reports whether changes go through the log of this process. */
  readonly isAlone: () => boolean;
  /**
   * Asks the other pods for a former connection. Undefined: no pod watched all the time since a place, or none says so in time.
   * Otherwise the mark from which on the connection may have been shown snapshots.
   */
  readonly findFormer: (former: Former, signal: AbortSignal) => Promise<number | undefined>;
};

/** A connection that another pod may have had. */
type Former = {
  readonly connection: number;
  readonly place: LevelsPlace;
  readonly keyId: string;
  readonly wish: Subscription;
};
