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
};

/** Records that are read before their turns. Each may take some 40 MB. */
const AHEAD = 8;

type Early = { readonly change: Change | undefined; readonly labels: EarlyLabels | undefined };

export function createTaking(dependencies: TakingDependencies): Taking {
  const { levels, ended, turns, signal, isWatched, readEarly, give } = dependencies;

  /** Reports whether connections take a record now. */
  function isTaken({ head, behind }: LevelRecord): boolean {
    if (!isWatched({ accounts: head.accounts, traces: head.names })) return false;
    if (head.position !== null || ended.isLate(head)) return false;
    const from = ended.from();
    // Another pod made the change long before. A block that this process did not see may have the final one.
    if (head.kind !== 'invalidation' && from !== null && isAfter(from, behind)) return false;
    return true;
  }

  async function read(record: LevelRecord): Promise<Early> {
    const { accounts, names } = record.head;
    if (isWatched({ accounts, traces: names })) await ended.reach(record.behind);
    const change = isTaken(record) ? await record.change() : undefined;
    return { change, labels: change && (await readEarly(change)) };
  }

  async function takeOne(record: LevelRecord, early: Early): Promise<void> {
    await turns.run(signal, async () => {
      levels.put(record);
      const { key } = record.head;
      const end = ended.endOf(key);
      if (key !== null && end !== undefined) levels.end(key, end);
      const change = isTaken(record) ? (early.change ?? (await record.change())) : undefined;
      if (change !== undefined && isTaken(record)) await give(change, record.number, early.labels);
      if (!signal.aborted) levels.given(record.number);
    });
  }

  return async (records) => {
    for (let at = 0; at < records.length; at += AHEAD) {
      const next = records.slice(at, at + AHEAD);
      const early = next.map(read);
      for (const [index, record] of next.entries()) await takeOne(record, await early[index]!);
    }
  };
}
