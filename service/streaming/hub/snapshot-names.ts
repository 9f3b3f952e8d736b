import type { Change, Invalidation, InvalidationReason, SnapshotName } from '../changes.ts';
import { levelsBounds, type LevelsLog } from './levels-log.ts';
import { createRecentKeys } from './recent-keys.ts';

/** Names the snapshot that a withdrawal of this process takes back: the newest one that its own source made, or has read from others. */
export type SnapshotNames = {
  /** This process made a snapshot, or one that is equal to the record. Other changes are no snapshots. */
  readonly note: (change: Change, record: Pick<SnapshotName, 'epoch' | 'number'>) => void;
  /** @returns the change, with the name of the withdrawn snapshot if it is a withdrawal */
  readonly name: (change: Change) => Change;
};

/** Traces and levels whose newest own snapshot is remembered: as many as the log has records. */
const NAMES_MAX = levelsBounds.records;

export function createSnapshotNames({
  levels,
}: {
  readonly levels: Pick<LevelsLog, 'epoch' | 'snapshotOf'>;
}): SnapshotNames {
  const own = createRecentKeys<SnapshotName>(NAMES_MAX);

  function nameOf({ key, reason }: Invalidation): SnapshotName | undefined {
    const level = levelOf(reason);
    const epoch = levels.epoch();
    const known = own.get(`${level}:${key}`);
    if (known?.epoch === epoch) return known;
    const number = levels.snapshotOf(key, level)?.number;
    return number === undefined ? known : { level, epoch, number };
  }

  return {
    note(change, { epoch, number }) {
      if (change.kind !== 'trace' || change.finality === 'finalized') return;
      const { key, finality: level } = change;
      own.replace(`${level}:${key}`, { level, epoch, number });
    },
    name: (change) => (change.kind === 'invalidation' ? { ...change, withdraws: nameOf(change) } : change),
  };
}

/** Level of the source that withdraws for a reason. */
export function levelOf(reason: InvalidationReason): SnapshotName['level'] {
  return reason === 'replaced' ? 'confirmed' : 'pending';
}
