import { streamingDefaults } from '#service/config/streaming.ts';
import { accountsOf } from '../concerned.ts';
import type { AccountKey, Change, Finality, Position, SnapshotName, Subscription, TraceSnapshot } from '../changes.ts';
import type { LevelsPlace } from '../request/cursor.ts';
import { lastWhole, markOf, steps } from './positions.ts';

/** Parts of a change by which a record is found. The rest is read when a connection needs it. */
export type LevelHead = {
  readonly kind: Change['kind'];
  /** Key of a trace; null for a state or a jetton wallet. */
  readonly key: string | null;
  /** Hashes by which a trace is found, the key among them. */
  readonly names: readonly string[];
  readonly accounts: readonly AccountKey[];
  /** Null for an invalidation. */
  readonly finality: Finality | null;
  /** Position of a final part of a trace; null for others. */
  readonly position: Position | null;
};

/** A change below `finalized`, or a final part of a trace that goes on, in the order in which connections were given it. */
export type LevelRecord = {
  /** Ordinal in the log, from 1. */
  readonly number: number;
  readonly head: LevelHead;
  /** Final position that live connections of the pod that made it had behind them. */
  readonly behind: Position | null;
  readonly bytes: number;
  /** Undefined for one that cannot be read. */
  readonly change: () => Promise<Change | undefined>;
};

/** A record, and the moment when it was made. */
export type TimedRecord = { readonly record: LevelRecord; readonly atMs: number };

/** Beginning of a log. */
export type LevelsBeginning = {
  /** Names the log in cursors. */
  readonly epoch: number;
  /** Number of the newest record. */
  readonly newest: number;
  /** The newest records, without a hole. */
  readonly records: readonly TimedRecord[];
  /** Moments of the newest record before them, and of the newest one that was removed before its time. */
  readonly droppedMs: number;
  readonly cutMs: number;
};

/**
 * Newest changes below `finalized`, from which a cut connection goes on (service/streaming/README.md#resume). In the memory of this process:
 * its own log, or a replica of the log that all pods share.
 */
export type LevelsLog = {
  readonly epoch: () => number;
  /**
   * Goes on with another log. The connections of this process were shown more than is in it.
   * @param endOf position before the end of a trace that this process has seen
   */
  readonly restart: (beginning: LevelsBeginning, endOf: LevelsLog['endOf']) => void;
  /** @returns number of the record, for `given` */
  readonly append: (change: Change, behind: Position | null) => number;
  /** Takes the next record of a shared log. */
  readonly put: (record: LevelRecord) => void;
  /** All live connections were given a record. */
  readonly given: (number: number) => void;
  /** Mark behind all records that live connections were given. */
  readonly mark: () => number;
  /** Reports whether a snapshot of its trace and level is there that was not withdrawn. */
  readonly hasLevel: (snapshot: TraceSnapshot) => boolean;
  /**
   * Newest snapshot of a trace at a level below `finalized`, by a hash in hex. Undefined after its withdrawal or the end of its trace.
   * Undefined also for a snapshot of more than five minutes: by then it is final or void.
   */
  readonly snapshotOf: (hash: string, finality: Finality) => LevelRecord | undefined;
  /** Heads of the newest snapshot of a trace at each level below `finalized`, withdrawn or not. */
  readonly headsOf: (key: string) => readonly LevelHead[];
  /** Reports whether a snapshot of a trace is the newest one of its level, or the level has none that was not withdrawn. */
  readonly isNewest: (key: string, name: SnapshotName) => boolean;
  /** A trace is final. @param position before all events of its end */
  readonly end: (key: string, position: Position) => void;
  /** Position of the first end of a trace with records; undefined for a trace that is not final. */
  readonly endOf: (key: string) => Position | undefined;
  /** Milliseconds after which a record is removed. */
  readonly recordedMs: () => number;
  /** Bytes of all records. */
  readonly bytes: () => number;
  readonly size: () => number;
  /** Number of the newest record; 0 for none. */
  readonly newest: () => number;
  /** Number of the newest record that is no longer there; 0 for none. */
  readonly dropped: () => number;
  /** Reports whether the log has all that a connection was and was not shown at a place. @param isOwn a connection of this process */
  readonly reaches: (place: LevelsPlace, isOwn: boolean) => boolean;
  /** Records after one that may concern a subscription, in order. Work depends on the subscription and the found records. */
  readonly concerning: (wish: Pick<Subscription, 'accounts' | 'traces'>, after: number) => readonly LevelRecord[];
};

export type LevelsLogOptions = {
  readonly epoch: number;
  /** Bytes of all records; default 64 MiB. */
  readonly bytesMax?: number | undefined;
  /** Milliseconds for which a cut connection may resume; default ten minutes. */
  readonly shortMs?: () => number;
  readonly nowMs: () => number;
};

/** Bounds of a log. */
export const levelsBounds = {
  /** Records of transfers take some 3 KiB, so the bound of bytes comes first. */
  records: 20_000,
  bytes: 64 * 1024 * 1024,
} as const;

/** Milliseconds in which a shown snapshot becomes final or is withdrawn. */
const OPEN_MS = 5 * 60_000;

/** Milliseconds of a record: those for a resume, and those in which a snapshot before them ends (service/pending/README.md). */
export function recordedMsOf(shortMs: number): number {
  return shortMs + OPEN_MS;
}

/** Estimated bytes of a record, of a transaction and of an action. Recorded traces of mainnet take two thirds of the estimate. */
const weights = { record: 1_024, transaction: 8_192, action: 4_096 } as const;

export function createLevelsLog({ bytesMax = levelsBounds.bytes, nowMs, ...options }: LevelsLogOptions): LevelsLog {
  const { shortMs = () => streamingDefaults.replay.shortMs } = options;
  let { epoch } = options;
  /** Records by number, without a hole. */
  const records = new Map<number, TimedRecord>();
  const byAccount: Numbers = new Map();
  const byTrace: Numbers = new Map();
  /** Ends of traces with records, by their keys. */
  const ends = new Map<string, Position>();
  let newest = 0;
  let mark = markOf(0, steps.last);
  let bytes = 0;
  /** Moments of the newest removed record, and of the newest one that was removed before its time. */
  let droppedMs = 0;
  let cutMs = -Infinity;
  /** Moment when the connections of this process came from another log. */
  let movedMs = -Infinity;

  const dropped = (): number => newest - records.size;
  const recordedMs = (): number => recordedMsOf(shortMs());

  function remove({ record, atMs }: TimedRecord, now: number): void {
    const { number, head } = record;
    records.delete(number);
    bytes -= record.bytes;
    for (const account of head.accounts) removeFirst(byAccount, account, number);
    for (const name of head.names) {
      removeFirst(byTrace, name, number);
      if (!byTrace.has(name)) ends.delete(name);
    }
    droppedMs = atMs;
    if (now - atMs < recordedMs()) cutMs = atMs;
  }

  function bound(): void {
    const now = nowMs();
    const oldMs = recordedMs();
    for (const timed of records.values()) {
      const isFull = records.size > levelsBounds.records || bytes > bytesMax;
      if (!isFull && now - timed.atMs < oldMs) return;
      remove(timed, now);
    }
  }

  function add(record: LevelRecord, atMs: number): void {
    newest = record.number;
    records.set(newest, { record, atMs });
    bytes += record.bytes;
    for (const account of record.head.accounts) addLast(byAccount, account, newest);
    for (const name of record.head.names) addLast(byTrace, name, newest);
  }

  function lastOf(hash: string, finality: Finality): TimedRecord | undefined {
    const number = byTrace.get(hash)?.findLast((at) => records.get(at)!.record.head.finality === finality);
    return number === undefined ? undefined : records.get(number);
  }

  /** Newest snapshot of a level that was not withdrawn. */
  function newestOf(hash: string, finality: Finality): TimedRecord | undefined {
    const found = lastOf(hash, finality);
    if (found === undefined) return undefined;
    const { number, head } = found.record;
    const isVoid = (at: number): boolean => at > number && records.get(at)!.record.head.kind === 'invalidation';
    return byTrace.get(head.key!)!.some(isVoid) ? undefined : found;
  }

  function end(key: string, position: Position): void {
    if (byTrace.has(key) && !ends.has(key)) ends.set(key, position);
  }

  return {
    epoch: () => epoch,
    restart(beginning, endOf) {
      // A final part that connections were shown may be on its way to a shared log that has no record yet.
      if (newest > 0 || epoch !== options.epoch) movedMs = nowMs();
      for (const map of [records, byAccount, byTrace, ends]) map.clear();
      ({ epoch, droppedMs, cutMs } = beginning);
      bytes = 0;
      for (const { record, atMs } of beginning.records) add(record, atMs);
      for (const name of byTrace.keys()) {
        const position = endOf(name);
        if (position !== undefined) end(name, position);
      }
      ({ newest } = beginning);
      mark = markOf(newest, steps.last);
    },
    append(change, behind) {
      const record = {
        number: newest + 1,
        head: headOf(change),
        behind,
        bytes: weightOf(change),
        change: async () => change,
      };
      add(record, nowMs());
      bound();
      return newest;
    },
    put(record) {
      add(record, nowMs());
      bound();
    },
    given(number) {
      mark = markOf(number, steps.last);
    },
    mark: () => mark,
    hasLevel: ({ key, finality }) => newestOf(key, finality) !== undefined,
    snapshotOf(hash, finality) {
      bound();
      const found = newestOf(hash, finality);
      if (found === undefined || nowMs() - found.atMs >= OPEN_MS) return undefined;
      return ends.has(found.record.head.key!) ? undefined : found.record;
    },
    headsOf: (key) => (['pending', 'confirmed'] as const).flatMap((level) => lastOf(key, level)?.record.head ?? []),
    isNewest(key, name) {
      const there = newestOf(key, name.level)?.record.number;
      return there === undefined || (name.epoch === epoch && name.number === there);
    },
    end,
    endOf: (key) => ends.get(key),
    recordedMs,
    bytes: () => bytes,
    size: () => records.size,
    newest: () => newest,
    dropped,
    reaches(place, isOwn) {
      bound();
      const at = lastWhole(place.mark);
      if (place.epoch !== epoch || at > newest || at < dropped()) return false;
      return (records.get(at)?.atMs ?? droppedMs) - Math.max(cutMs, isOwn ? movedMs : -Infinity) >= OPEN_MS;
    },
    concerning({ accounts, traces }, after) {
      bound();
      const found = new Set<number>();
      collect(byAccount, accounts, after, found);
      collect(byTrace, traces, after, found);
      // A later snapshot of a trace that was shown may no longer name the account.
      const names = new Set([...found].flatMap((number) => records.get(number)!.record.head.names));
      collect(byTrace, names, after, found);
      return [...found].toSorted((one, other) => one - other).map((number) => records.get(number)!.record);
    },
  };
}

/** The parts of a change by which its record is found. */
export function headOf(change: Change): LevelHead {
  const { kind, key } = traceOf(change);
  const hashes = change.kind === 'trace' ? change.hashes : [];
  return {
    kind,
    key,
    names: [...new Set(key === null ? hashes : [key, ...hashes])],
    accounts: [...new Set(accountsOf(change))],
    finality: change.kind === 'invalidation' ? null : change.finality,
    position: change.kind === 'invalidation' ? null : change.position,
  };
}

/** The part of a head that names the trace. */
export function traceOf(change: Change): Pick<LevelHead, 'kind' | 'key'> {
  return { kind: change.kind, key: change.kind === 'trace' || change.kind === 'invalidation' ? change.key : null };
}

/** Ascending numbers of records by their accounts, or by the hashes of their traces. */
type Numbers = Map<string, number[]>;

function addLast(numbers: Numbers, key: string, number: number): void {
  const there = numbers.get(key);
  if (there === undefined) numbers.set(key, [number]);
  else there.push(number);
}

function removeFirst(numbers: Numbers, key: AccountKey, number: number): void {
  const there = numbers.get(key);
  if (there?.[0] === number) there.shift();
  if (there?.length === 0) numbers.delete(key);
}

function collect(numbers: Numbers, keys: ReadonlySet<string>, after: number, found: Set<number>): void {
  for (const key of keys) {
    const there = numbers.get(key) ?? [];
    for (let at = there.length - 1; at >= 0 && there[at]! > after; at--) found.add(there[at]!);
  }
}

function weightOf(change: Change): number {
  if (change.kind !== 'trace') return weights.record;
  return weights.record + change.transactions.length * weights.transaction + change.actions.length * weights.action;
}
