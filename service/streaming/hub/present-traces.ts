import type { Finality, TraceSnapshot } from '../changes.ts';
import type { LevelRecord, LevelsLog } from './levels-log.ts';
import type { Past } from './past.ts';

/** Newest snapshot of a trace, and its record; no record for a snapshot that the log of levels need not have. */
export type PresentTrace = { readonly snapshot: TraceSnapshot; readonly record?: LevelRecord };

/** Finds what a subscription to a trace shows at once. */
export type PresentTraces = {
  /**
   * Newest snapshot at the highest level that a subscription accepts. Waits while the index is away.
   * @param hash of the trace, in hex
   * @param isResumed final snapshots come from the past, so none is returned; a final trace has no lower one
   */
  readonly find: (
    hash: string,
    minFinality: Finality,
    isResumed: boolean,
    signal: AbortSignal,
  ) => Promise<PresentTrace | undefined>;
};

export type PresentTracesDependencies = {
  readonly levels: Pick<LevelsLog, 'snapshotOf'>;
  readonly past: Pick<Past, 'findTrace'>;
  /** Current snapshot of a pending trace of this service, which the index does not have, by one of its hashes in hex. */
  readonly findPending: (hash: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
  /** Snapshot of a trace in the signed blocks that this process reads, by its key in hex. */
  readonly findConfirmed: (key: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
};

export function createPresentTraces(dependencies: PresentTracesDependencies): PresentTraces {
  const { levels, past, findPending, findConfirmed } = dependencies;

  async function readRecord(hash: string, finality: Finality): Promise<PresentTrace | undefined> {
    const record = levels.snapshotOf(hash, finality);
    const change = await record?.change();
    return record !== undefined && change?.kind === 'trace' ? { snapshot: change, record } : undefined;
  }

  async function signedOf(hash: string, signal: AbortSignal): Promise<PresentTrace | undefined> {
    const recorded = await readRecord(hash, 'confirmed');
    if (recorded !== undefined) return recorded;
    const snapshot = await findConfirmed(hash, signal);
    return snapshot && { snapshot };
  }

  return {
    async find(hash, minFinality, isResumed, signal) {
      const confirmed = minFinality === 'finalized' ? undefined : await signedOf(hash, signal);
      const isSimulated = minFinality === 'pending' && confirmed === undefined;
      const simulated = isSimulated ? await findPending(hash, signal) : undefined;
      if (simulated !== undefined) return { snapshot: simulated };
      const lower = confirmed ?? (isSimulated ? await readRecord(hash, 'pending') : undefined);
      if (isResumed && lower === undefined) return undefined;
      // The log has snapshots of traces that are final by now.
      const final = await past.findTrace(hash, signal);
      if (final === undefined) return lower;
      return isResumed ? undefined : { snapshot: final };
    },
  };
}
