import { PoolError } from './errors.ts';
import type { Head } from './head.ts';
import type { PoolContext } from './reads.ts';

/** What the pods of an API tell each other of the blocks they answered at. Nothing here rejects; each waits for a bounded time. */
export type SharedFloors = {
  /** The newest masterchain seqno that any pod serves; undefined while the pods cannot be heard. */
  newest(): number | undefined;
  /** To be done before the first answer at a new head. */
  announce(seqno: number): Promise<void>;
  /** The newest seqno that a pod answered this caller at; undefined when there is none or nobody can tell. */
  read(caller: string): Promise<number | undefined>;
  /** False when it could not be written. */
  raise(caller: string, seqno: number): Promise<boolean>;
  /** Puts this in the place of a higher one that cannot be true; nobody waits for it. */
  replace(caller: string, seqno: number): void;
};

/** What callers are answered at: a head, or the block that most lite servers have. */
export type Floored = { readonly block: { readonly seqno: number } };

/** Holds each caller to what it has seen, at this pod and at the others. */
export type Floors<H extends Floored = Head> = {
  /**
   * The head to answer this caller at: the served one, or, where this pod is behind what the caller has seen, a newer one.
   * Rejects with PoolError `no_lite_server` before the first head, and `behind` when no block that new can be had in time.
   */
  readonly headFor: (context: PoolContext) => Promise<H>;
  /** To be told of a proved masterchain block that a caller named and is answered at: one above the served head is a floor from then on. */
  readonly saw: (seqno: number, context: PoolContext) => void;
};

export type FloorsOptions = {
  /** Callers remembered. */
  readonly callersMax: number;
  /** A floor is written again after this long, so that it does not expire while its caller is there. */
  readonly refreshMs: number;
  /** How long a caller waits for the served head to come up to its floor. */
  readonly waitMs: number;
};

export type FloorsDependencies<H extends Floored = Head> = {
  readonly head: () => H | undefined;
  /** The newest proved block, by which floors that cannot be true are known. */
  readonly proved: () => Pick<Head, 'block' | 'utime'> | undefined;
  /** Resolves when the served head has the seqno, or when the time is over. */
  readonly whenServed: (seqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
  /** A proved block of this seqno or a later one that some lite server has, though the served head does not; undefined without one. */
  readonly findAhead: (seqno: number) => Promise<H | undefined>;
  /** Absent: this pod is alone, and its own head never goes back. */
  readonly shared: SharedFloors | undefined;
  readonly now: () => number;
  readonly unixMs: () => number;
};

/** No network makes blocks of the masterchain faster. */
const BLOCK_MS_MIN = 200;

/** Clocks of this machine, of other pods and of validators are taken to be no further apart. */
const CLOCK_MARGIN_MS = 5_000;

/**
 * True when no pod can have answered at `seqno` by `toldUnixMs`: a block of our own that was made at about that time or later is below it,
 * by more blocks than can have come in between. So a floor that somebody wrote into Redis holds for seconds at most.
 */
export function isRefuted(seqno: number, toldUnixMs: number, { block, utime }: Pick<Head, 'block' | 'utime'>): boolean {
  const betweenMs = Math.max(0, toldUnixMs + CLOCK_MARGIN_MS - utime * 1000);
  return seqno > block.seqno + betweenMs / BLOCK_MS_MIN;
}

function isRefutedBy(proved: Pick<Head, 'block' | 'utime'> | undefined, seqno: number, toldUnixMs: number): boolean {
  return proved !== undefined && isRefuted(seqno, toldUnixMs, proved);
}

/** The floors of another kind of answers, told apart by the names of their callers. */
export function scopeFloors(shared: SharedFloors, scope: string): SharedFloors {
  return {
    ...shared,
    read: (caller) => shared.read(`${scope} ${caller}`),
    raise: (caller, seqno) => shared.raise(`${scope} ${caller}`, seqno),
    replace: (caller, seqno) => shared.replace(`${scope} ${caller}`, seqno),
  };
}

/**
 * True when no pod can have answered anybody at a block that this pod does not serve yet: nobody's floor needs to be asked for.
 */
export function isAtFront(newestSeqno: number | undefined, servedSeqno: number): boolean {
  return newestSeqno !== undefined && newestSeqno <= servedSeqno;
}

/** Remembers the last callers, the least recently seen first to go. */
type Seen = { readonly seqno: number; readonly writtenMs: number };

export function createFloors<H extends Floored>(
  options: FloorsOptions,
  dependencies: FloorsDependencies<H>,
): Floors<H> {
  const { head, proved, shared, now, unixMs } = dependencies;
  const seen = new Map<string, Seen>();
  /** Floors above the served head, and when they were first told. */
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
    // A note of another pod may have arrived before the request did: it is read first.
    await new Promise((resolve) => setImmediate(resolve));
    const own = seen.get(caller)?.seqno ?? 0;
    if (isAtFront(shared.newest(), needHead().block.seqno)) return own;
    return Math.max(own, credible(caller, (await shared.read(caller)) ?? 0, shared));
  }

  /** The floor that was told, or 0 for one that cannot be true. */
  function credible(caller: string, seqno: number, others: SharedFloors): number {
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

  async function raise(caller: string, seqno: number, others: SharedFloors): Promise<void> {
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
      // Beside the reads to come: whoever answers waits for it last.
      observe?.({ kind: 'pending', done: raise(caller, seqno, shared) });
      return answerAt;
    },
    saw(seqno, { caller, observe }) {
      const served = head();
      if (caller === undefined || served === undefined || seqno <= served.block.seqno) return;
      // Without a proof it may be a lie: what cannot be is not held against the caller.
      if (isRefutedBy(proved(), seqno, unixMs())) return;
      if (shared === undefined) return remember(caller, { seqno, writtenMs: now() });
      observe?.({ kind: 'pending', done: shared.announce(seqno).then(() => raise(caller, seqno, shared)) });
    },
  };
}
