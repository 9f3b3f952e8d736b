import { PoolError } from './errors.ts';
import type { Head } from './head.ts';
import type { PoolContext } from './reads.ts';

/** Floors that the pods of an API share: the blocks they answered at. No function rejects; each waits for a bounded time. */
export type SharedHeads = {
  /** Returns the newest masterchain seqno that any pod serves; undefined while the pods are unavailable. */
  newest(): number | undefined;
  /** Announces a head. It must settle before the first answer at the head. */
  announce(seqno: number): Promise<void>;
  /** Returns the newest seqno at which a pod answered this caller; undefined when there is none or Redis is unavailable. */
  read(caller: string): Promise<number | undefined>;
  /** Raises a caller's floor. Returns false when it could not be written. */
  raise(caller: string, seqno: number): Promise<boolean>;
  /** Replaces a higher floor that is impossible. No caller waits for it. */
  replace(caller: string, seqno: number): void;
};

/** Basis of an answer: a head, or the block that most lite servers have. */
export type Floored = { readonly block: { readonly seqno: number } };

/** Makes sure that no caller sees an older block than before, at this pod and at others. */
export type MonotonicHeads<H extends Floored = Head> = {
  /**
   * Returns the head to answer this caller at. If this pod is behind what the caller has seen, the head is newer than the served one. Rejects with
   * PoolError `no_lite_server` before the first head, and `behind` when no block that new comes in time.
   */
  readonly headFor: (context: PoolContext) => Promise<H>;
  /** Records a proved masterchain block that a caller named and gets an answer at. If it is above the served head, it becomes a floor. */
  readonly saw: (seqno: number, context: PoolContext) => void;
};

export type MonotonicHeadsOptions = {
  /** Most callers with a cached floor. */
  readonly callersMax: number;
  /** Milliseconds after which a floor is written again, so that it does not expire while its caller is active. */
  readonly refreshMs: number;
  /** Milliseconds that a caller waits until the served head reaches its floor. */
  readonly waitMs: number;
};

export type MonotonicHeadsDependencies<H extends Floored = Head> = {
  readonly head: () => H | undefined;
  /** Returns the newest proved block, which refutes impossible floors. */
  readonly proved: () => Pick<Head, 'block' | 'utime'> | undefined;
  /** Resolves when the served head has the seqno, or when the time is over. */
  readonly whenServed: (seqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
  /** Returns a proved block of this seqno or later, above the served head, that some lite server has. Undefined without one. */
  readonly findAhead: (seqno: number) => Promise<H | undefined>;
  /** Absent when this pod is alone; its own head never goes back. */
  readonly shared: SharedHeads | undefined;
  readonly now: () => number;
  readonly unixMs: () => number;
};

/** Least milliseconds between blocks of the masterchain in any network. */
const BLOCK_MS_MIN = 200;

/** Largest assumed difference between clocks of this machine, of other pods and of validators. */
const CLOCK_MARGIN_MS = 5_000;

/**
 * Returns true when no pod can have answered at `seqno` by `toldUnixMs`. The proof is a block of this pod made at about that time or later. It is
 * below `seqno` by more blocks than are possible in between. An invented floor in Redis therefore lasts for seconds at most.
 */
export function isRefuted(seqno: number, toldUnixMs: number, { block, utime }: Pick<Head, 'block' | 'utime'>): boolean {
  const betweenMs = Math.max(0, toldUnixMs + CLOCK_MARGIN_MS - utime * 1000);
  return seqno > block.seqno + betweenMs / BLOCK_MS_MIN;
}

function isRefutedBy(proved: Pick<Head, 'block' | 'utime'> | undefined, seqno: number, toldUnixMs: number): boolean {
  return proved !== undefined && isRefuted(seqno, toldUnixMs, proved);
}

/** Returns floors of another kind of answers, with their own names of callers. */
export function scopeFloors(shared: SharedHeads, scope: string): SharedHeads {
  return {
    ...shared,
    read: (caller) => shared.read(`${scope} ${caller}`),
    raise: (caller, seqno) => shared.raise(`${scope} ${caller}`, seqno),
    replace: (caller, seqno) => shared.replace(`${scope} ${caller}`, seqno),
  };
}

/** Returns true when this pod serves the newest block of all pods. No caller's floor can be above it, so none needs to be read. */
export function isAtFront(newestSeqno: number | undefined, servedSeqno: number): boolean {
  return newestSeqno !== undefined && newestSeqno <= servedSeqno;
}

/** Cache of the last callers; the least recently seen is evicted first. */
type Seen = { readonly seqno: number; readonly writtenMs: number };

export function createMonotonicHeads<H extends Floored>(
  options: MonotonicHeadsOptions,
  dependencies: MonotonicHeadsDependencies<H>,
): MonotonicHeads<H> {
  const { head, proved, shared, now, unixMs } = dependencies;
  const seen = new Map<string, Seen>();
  /** Floors above the served head, with the time of their first report. */
  const tooHigh = new Map<string, { readonly seqno: number; readonly toldUnixMs: number }>();

  function remember(caller: string, entry: Seen): void {
    seen.delete(caller);
    seen.set(caller, entry);
    const [oldest] = seen.keys();
    if (seen.size > options.callersMax && oldest !== undefined) seen.delete(oldest);
  }

  function needHead(): H {
    const served = head();
    if (served === undefined) throw new PoolError('no_lite_server');
    return served;
  }

  async function floorOf(caller: string): Promise<number> {
    if (shared === undefined) return seen.get(caller)?.seqno ?? 0;
    // A message of another pod may have arrived before the request did, so it is read first.
    await new Promise((resolve) => setImmediate(resolve));
    const own = seen.get(caller)?.seqno ?? 0;
    if (isAtFront(shared.newest(), needHead().block.seqno)) return own;
    return Math.max(own, credible(caller, (await shared.read(caller)) ?? 0, shared));
  }

  /** Returns the reported floor, or 0 for an impossible one. */
  function credible(caller: string, seqno: number, others: SharedHeads): number {
    const served = needHead();
    const before = tooHigh.get(caller);
    tooHigh.delete(caller);
    if (seqno <= served.block.seqno) return seqno;
    const toldUnixMs = before?.seqno === seqno ? before.toldUnixMs : unixMs();
    if (isRefutedBy(proved(), seqno, toldUnixMs)) {
      others.replace(caller, served.block.seqno);
      return 0;
    }
    tooHigh.set(caller, { seqno, toldUnixMs });
    const [oldest] = tooHigh.keys();
    if (tooHigh.size > options.callersMax && oldest !== undefined) tooHigh.delete(oldest);
    return seqno;
  }

  /** @throws PoolError `behind` */
  async function reach(seqno: number, context: PoolContext): Promise<H> {
    const waitMs = Math.min(options.waitMs, context.deadlineMs - now());
    await dependencies.whenServed(seqno, waitMs, context.signal);
    const served = needHead();
    if (served.block.seqno >= seqno) return served;
    const ahead = await dependencies.findAhead(seqno);
    if (ahead === undefined) throw new PoolError('behind');
    return ahead;
  }

  async function raise(caller: string, seqno: number, others: SharedHeads): Promise<void> {
    const known = seen.get(caller);
    const isWritten = known !== undefined && known.seqno >= seqno && now() - known.writtenMs < options.refreshMs;
    if (isWritten) return;
    const before = known?.writtenMs ?? Number.NEGATIVE_INFINITY;
    remember(caller, { seqno, writtenMs: before });
    if (await others.raise(caller, seqno)) remember(caller, { seqno, writtenMs: now() });
  }

  return {
    async headFor(context) {
      const { caller, observe } = context;
      needHead();
      const floor = caller === undefined ? 0 : await floorOf(caller);
      const served = needHead();
      const answerAt = served.block.seqno >= floor ? served : await reach(floor, context);
      const { seqno } = answerAt.block;
      observe?.({ kind: 'head', seqno });
      if (caller === undefined) return answerAt;
      if (shared === undefined) {
        if (answerAt !== served) remember(caller, { seqno, writtenMs: now() });
        return answerAt;
      }
      // The write runs next to the reads to come, and the answer waits for it last.
      observe?.({ kind: 'pending', done: raise(caller, seqno, shared) });
      return answerAt;
    },
    saw(seqno, { caller, observe }) {
      const served = head();
      if (caller === undefined || served === undefined || seqno <= served.block.seqno) return;
      // Without a proof the seqno may be a lie. An impossible one does not become a floor.
      if (isRefutedBy(proved(), seqno, unixMs())) return;
      if (shared === undefined) return remember(caller, { seqno, writtenMs: now() });
      observe?.({ kind: 'pending', done: shared.announce(seqno).then(() => raise(caller, seqno, shared)) });
    },
  };
}
