import { badArgument } from '../chain/errors.ts';
import { shown } from './fields.ts';

/** A remembered block, to whose accounts the network may go back. */
export type Snapshot = {
  readonly snapshot: number;
  readonly name?: string;
  /** Seqno of the masterchain block. */
  readonly seqno: number;
  readonly utime: number;
};

/** Snapshots by number and by name. */
export type SnapshotList = {
  /** A name that is taken moves to the new snapshot. */
  add(block: Pick<Snapshot, 'seqno' | 'utime'>, name: string | undefined): Snapshot;
  /** @throws DevchainError `bad_argument` */
  find(given: unknown): Snapshot;
  /** @throws DevchainError `bad_argument` */
  delete(given: unknown): Snapshot;
  list(): Snapshot[];
};

/** Most snapshots; the oldest is forgotten first. Each is a number. States stay as long as there is room. */
const SNAPSHOTS_MAX = 1000;

export function createSnapshotList(): SnapshotList {
  const snapshots = new Map<number, Snapshot>();
  let last = 0;

  const find = (given: unknown): Snapshot => {
    const found =
      typeof given === 'string'
        ? [...snapshots.values()].find(({ name }) => name === given)
        : snapshots.get(given as number);
    if (found === undefined) {
      throw badArgument('snapshot', `expected one that dev_snapshot gave, got ${shown(given)}`);
    }
    return found;
  };

  return {
    add(block, name) {
      const earlier = [...snapshots.values()].find((one) => name !== undefined && one.name === name);
      if (earlier !== undefined) {
        const { name: _moved, ...nameless } = earlier;
        snapshots.set(earlier.snapshot, nameless);
      }
      const made = { snapshot: ++last, ...(name !== undefined && { name }), ...block };
      snapshots.set(last, made);
      if (snapshots.size > SNAPSHOTS_MAX) snapshots.delete(snapshots.keys().next().value!);
      return made;
    },
    find,
    delete(given) {
      const found = find(given);
      snapshots.delete(found.snapshot);
      return found;
    },
    list: () => [...snapshots.values()],
  };
}
