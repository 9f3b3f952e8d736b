import type { Semaphore } from '#service/runtime/semaphore.ts';
import type { Change } from '../changes.ts';
import type { EarlyLabels } from './distribution.ts';
import type { EndedTraces } from './ended-traces.ts';
import type { LevelRecord, LevelsLog } from './levels-log.ts';
import { isAfter } from './positions.ts';

/** Gives connections the next records of the log that all pods share. */
export type Taking = (records: readonly LevelRecord[]) => Promise<void>;

export type TakingDependencies = {
  readonly levels: LevelsLog;
  readonly ended: EndedTraces;
  readonly turns: Semaphore;
  readonly signal: AbortSignal;
  /** Reports whether any connection has to do with one of the accounts or traces. */
  readonly isWatched: (keys: { readonly accounts: Iterable<string>; readonly traces: Iterable<string> }) => boolean;
  readonly readEarly: (change: Change) => Promise<EarlyLabels | undefined>;
  readonly give: (change: Change, record: number | null, early: EarlyLabels | undefined) => Promise<void>;
  readonly onFault: (error: unknown) => void;
};

export function createTaking(dependencies: TakingDependencies): Taking {
  const { levels, ended, turns, signal, isWatched, readEarly, give, onFault } = dependencies;

  /** Decodes a record that connections take now. */
  function open({ head, behind, change }: LevelRecord): Change | undefined {
    if (head.position !== null || ended.isLate(head)) return undefined;
    const from = ended.from();
    // Another pod made the snapshot before a block that this process did not see. The block may have the end of the trace.
    if (head.kind === 'trace' && from !== null && isAfter(from, behind)) return undefined;
    if (!isWatched({ accounts: head.accounts, traces: head.names })) return undefined;
    try {
      return change();
    } catch (error) {
      onFault(error);
      return undefined;
    }
  }

  async function takeOne(record: LevelRecord, early: EarlyLabels | undefined): Promise<void> {
    await turns.run(signal, async () => {
      levels.put(record);
      const { key } = record.head;
      const end = ended.endOf(key);
      if (key !== null && end !== undefined) levels.end(key, end);
      const change = open(record);
      if (change !== undefined) await give(change, record.number, early);
      if (!signal.aborted) levels.given(record.number);
    });
  }

  return async (records) => {
    const early = records.map(async (record) => {
      const change = open(record);
      return change && readEarly(change);
    });
    for (const [at, record] of records.entries()) await takeOne(record, await early[at]);
  };
}
