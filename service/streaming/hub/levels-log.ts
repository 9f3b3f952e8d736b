import { accountsOf } from '../concerned.ts';
import type { AccountKey, Change, Position, Subscription, TraceSnapshot } from '../changes.ts';
import type { LevelsPlace } from '../request/cursor.ts';
import { lastWhole, markOf, steps } from './positions.ts';

/** A change below `finalized`, or a final part of a trace that goes on, in the order in which connections were given it. */
export type LevelRecord = {
  /** Ordinal in the log, from 1. */
  readonly number: number;
  readonly change: Change;
  /** Final position that live connections had behind them. */
  readonly behind: Position | null;
};

/** Newest changes below `finalized`, from which a cut connection goes on (service/streaming/README.md#resume). In the memory of this process. */
export type LevelsLog = {
  /** Names the log in cursors: a process that starts has a new one. */
  readonly epoch: number;
  /** @returns number of the record, for `given` */
  readonly append: (change: Change, behind: Position | null) => number;
  /** All live connections were given a record. */
  readonly given: (number: number) => void;
  /** Mark behind all records that live connections were given. */
  readonly mark: () => number;
  /** Adds a snapshot that one connection alone was given, unless one of its trace and level is there. */
  readonly note: (snapshot: TraceSnapshot, behind: Position | null) => void;
  /** A trace is final. */
  readonly end: (key: string, position: Position) => void;
  /** Position of the end of a trace with records; undefined for a trace that is not final. */
  readonly endOf: (key: string) => Position | undefined;
  /** Bytes of all records, by estimate. */
  readonly bytes: () => number;
  /** Number of the newest record; 0 for none. */
  readonly newest: () => number;
  /** Number of the newest record that is no longer there; 0 for none. */
  readonly dropped: () => number;
  /** Reports whether the log has all that a connection was and was not shown at a place. */
  readonly reaches: (place: LevelsPlace) => boolean;
  /** Records after one that may concern a subscription, in order. Work depends on the subscription and the found records. */
  readonly concerning: (wish: Pick<Subscription, 'accounts' | 'traces'>, after: number) => readonly LevelRecord[];
};

export type LevelsLogOptions = {
  readonly epoch: number;
  /** Bytes of all records by the estimate of `weightOf`; default 64 MiB. */
  readonly bytesMax?: number | undefined;
  readonly nowMs: () => number;
};

type Kept = { readonly record: LevelRecord; readonly atMs: number; readonly weight: number };

/** Milliseconds of a record: ten minutes for a resume, and five in which a snapshot before them ends (service/pending/README.md). */
const RECORDED_MS = 15 * 60_000;

/** Milliseconds in which a shown snapshot becomes final or is withdrawn. */
const OPEN_MS = 5 * 60_000;

/** Some ten records a second. */
const RECORDS_MAX = 10_000;

const BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of a record, of a transaction and of an action. Recorded traces of mainnet take two thirds of the estimate. */
const weights = { record: 1_024, transaction: 8_192, action: 4_096 } as const;

export function createLevelsLog({ epoch, bytesMax = BYTES_MAX, nowMs }: LevelsLogOptions): LevelsLog {
  /** Records by number, without a hole. */
  const records = new Map<number, Kept>();
  const byAccount: Numbers = new Map();
  const byTrace: Numbers = new Map();
  /** Ends of traces with records, by their keys. */
  const ends = new Map<string, Position>();
  let newest = 0;
  let mark = markOf(0, steps.last);
  let weight = 0;
  /** Moments of the newest removed record, and of the newest one that was removed before its time. */
  let droppedMs = 0;
  let cutMs = -Infinity;

  const dropped = (): number => newest - records.size;

  function remove({ record, atMs, weight: share }: Kept, now: number): void {
    records.delete(record.number);
    weight -= share;
    for (const account of accountsOf(record.change)) removeFirst(byAccount, account, record.number);
    for (const name of namesOf(record.change)) {
      removeFirst(byTrace, name, record.number);
      if (!byTrace.has(name)) ends.delete(name);
    }
    droppedMs = atMs;
    if (now - atMs < RECORDED_MS) cutMs = atMs;
  }

  function bound(): void {
    const now = nowMs();
    for (const kept of records.values()) {
      const isFull = records.size > RECORDS_MAX || weight > bytesMax;
      if (!isFull && now - kept.atMs < RECORDED_MS) return;
      remove(kept, now);
    }
  }

  function append(change: Change, behind: Position | null): number {
    const number = ++newest;
    const kept = { record: { number, change, behind }, atMs: nowMs(), weight: weightOf(change) };
    records.set(number, kept);
    weight += kept.weight;
    for (const account of new Set(accountsOf(change))) addLast(byAccount, account, number);
    for (const name of namesOf(change)) addLast(byTrace, name, number);
    bound();
    return number;
  }

  function given(number: number): void {
    mark = markOf(number, steps.last);
  }

  const hasLevel = ({ key, finality }: TraceSnapshot): boolean =>
    byTrace.get(key)?.some((number) => {
      const { change } = records.get(number)!.record;
      return change.kind === 'trace' && change.finality === finality;
    }) === true;

  return {
    epoch,
    append,
    given,
    mark: () => mark,
    note(snapshot, behind) {
      if (!hasLevel(snapshot)) given(append(snapshot, behind));
    },
    end(key, position) {
      if (byTrace.has(key)) ends.set(key, position);
    },
    endOf: (key) => ends.get(key),
    bytes: () => weight,
    newest: () => newest,
    dropped,
    reaches(place) {
      bound();
      const at = lastWhole(place.mark);
      if (place.epoch !== epoch || at > newest || at < dropped()) return false;
      return (records.get(at)?.atMs ?? droppedMs) - cutMs >= OPEN_MS;
    },
    concerning({ accounts, traces }, after) {
      bound();
      const found = new Set<number>();
      collect(byAccount, accounts, after, found);
      collect(byTrace, traces, after, found);
      // A later snapshot of a trace that was shown may no longer name the account.
      const names = new Set([...found].flatMap((number) => namesOf(records.get(number)!.record.change)));
      collect(byTrace, names, after, found);
      return [...found].toSorted((one, other) => one - other).map((number) => records.get(number)!.record);
    },
  };
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

/** Hashes by which a trace is found. */
function namesOf(change: Change): readonly string[] {
  if (change.kind === 'trace') return [...new Set([change.key, ...change.hashes])];
  return change.kind === 'invalidation' ? [change.key] : [];
}

function weightOf(change: Change): number {
  if (change.kind !== 'trace') return weights.record;
  return weights.record + change.transactions.length * weights.transaction + change.actions.length * weights.action;
}
