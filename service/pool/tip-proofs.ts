import type { Head, Tip } from './head.ts';
import type { PoolTuning } from './options.ts';
import type { PoolContext } from './reads.ts';
import { judge, type Verdict } from './verdict.ts';

/** Most blocks remembered as proved, and as refused. One for each lite server is plenty. */
const REMEMBERED_MAX = 64;

/** Progress of the proof of a reported block. */
export type TipState = {
  /** Head of a proved block. */
  readonly head: Head | undefined;
  /** Set while a failed proof is not tried again. It is early if few lite servers had the block. */
  readonly refusal: { readonly isEarly: boolean } | undefined;
  /** Start of a proof in progress. */
  readonly sinceMs: number | undefined;
};

/** Proofs of reported masterchain blocks: those in progress, and their last results. */
export type TipProofs = {
  readonly stateOf: (tip: Tip) => TipState;
  /** Number of proofs in progress. */
  readonly running: () => number;
  /** Proves a block. @param isEarly few lite servers have the block yet */
  readonly start: (tip: Tip, isEarly: boolean) => void;
  /** Forgets the proved blocks up to a seqno. */
  readonly forget: (seqno: number) => void;
  /** Stops proving; resolves when no proof is in progress. */
  readonly close: () => Promise<void>;
};

export type TipProofsDependencies = {
  readonly prove: (tip: Tip, context: PoolContext) => Promise<Head>;
  /** Called when a block fails its proof for good. */
  readonly onRefused: (tip: Tip, verdict: Verdict, error: unknown) => void;
  /** Called after every proof. */
  readonly onDone: () => void;
  /** Returns the longest proof in milliseconds. */
  readonly timeoutMs: () => number;
  readonly now: () => number;
};

export function createTipProofs(
  { refusedMs }: Pick<PoolTuning, 'refusedMs'>,
  { prove, onRefused, onDone, timeoutMs, now }: TipProofsDependencies,
): TipProofs {
  const stop = new AbortController();
  const proving = new Map<string, { sinceMs: number; done: Promise<void> }>();
  /** Proved blocks that are not served yet. */
  const proved = new Map<string, Head>();
  const refusals = new Map<string, { readonly untilMs: number; readonly isEarly: boolean }>();

  async function proveTip(key: string, tip: Tip, isEarly: boolean): Promise<void> {
    try {
      const limitMs = timeoutMs();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(limitMs)]);
      remember(proved, key, await prove(tip, { deadlineMs: now() + limitMs, signal, isUrgent: true }));
    } catch (error) {
      if (!stop.signal.aborted) refuse(key, tip, error, isEarly);
    }
    proving.delete(key);
    onDone();
  }

  function refuse(key: string, tip: Tip, error: unknown, wasEarly: boolean): void {
    const verdict = judge(error);
    // The proof may have failed because few lite servers have the block yet. Once more have it, it is tried again at once.
    const isEarly = wasEarly && verdict.health !== 'misbehaved';
    remember(refusals, key, { untilMs: now() + refusedMs, isEarly });
    if (!isEarly) onRefused(tip, verdict, error);
  }

  return {
    stateOf(tip) {
      const key = keyOf(tip);
      const refusal = refusals.get(key);
      return {
        head: proved.get(key),
        refusal: refusal !== undefined && refusal.untilMs > now() ? refusal : undefined,
        sinceMs: proving.get(key)?.sinceMs,
      };
    },
    running: () => proving.size,
    start(tip, isEarly) {
      const key = keyOf(tip);
      proving.set(key, { sinceMs: now(), done: proveTip(key, tip, isEarly) });
    },
    forget(seqno) {
      for (const [key, { block }] of proved) if (block.seqno <= seqno) proved.delete(key);
    },
    async close() {
      stop.abort();
      await Promise.all([...proving.values()].map(({ done }) => done));
    },
  };
}

function keyOf({ block }: Tip): string {
  return block.rootHash.toString('latin1') + block.fileHash.toString('latin1');
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
