import type { LevelsLog, TimedRecord } from '../hub/levels-log.ts';
import type { Publishing } from '../hub/publishing.ts';
import type { ReadPlace, SharedBeginning, SharedLog, SharedRecord, Word } from './shared-log.ts';

/** Time in which this process follows one epoch of the shared log. */
export type FeedSession = {
  readonly epoch: number;
  /** Number of the newest record that was there before. Live connections are not given records up to here. */
  readonly joinedAt: number;
  /** Resolves to true once connections have a record, or to false when the session ends before. */
  readonly passed: (number: number, signal?: AbortSignal) => Promise<boolean>;
  /** Reads until something happens that ends the session. */
  readonly follow: (place: ReadPlace) => Promise<SessionEnd>;
  /** Ends it. What waits for records gets false. */
  readonly end: (why: SessionEnd) => void;
};

/** Redis does not answer; the log is another one; records were removed before this process read them. */
export type SessionEnd = 'away' | 'another' | 'lost';

export type FeedSessionDependencies = {
  readonly shared: Pick<SharedLog, 'read' | 'join'>;
  readonly levels: Pick<LevelsLog, 'newest'>;
  readonly publishing: Pick<Publishing, 'take'>;
  readonly onWords: (words: readonly Word[]) => void;
};

/** Records that are there when a process joins the log. */
export type FoundPast = { readonly records: readonly TimedRecord[]; readonly place: ReadPlace };

/** Past of a log that is read from its first record on. */
export function emptyPast({ unixMs }: SharedBeginning): FoundPast {
  return { records: [], place: { log: '0-0', words: `${unixMs}-0` } };
}

/** Reads all records that are there. Undefined when Redis does not answer. */
export async function readPast(
  beginning: SharedBeginning,
  shared: Pick<SharedLog, 'read'>,
  nowMs: () => number,
): Promise<FoundPast | undefined> {
  const offsetMs = nowMs() - beginning.unixMs;
  const records: TimedRecord[] = [];
  let { place } = emptyPast(beginning);
  for (;;) {
    const read = await shared.read(place, false);
    if (read === undefined) return undefined;
    ({ place } = read);
    for (const { record, atMs, epoch } of read.records) {
      if (epoch === beginning.epoch) records.push({ record, atMs: atMs + offsetMs });
    }
    if (read.records.length === 0) return { records, place };
  }
}

export function createFeedSession(
  { epoch, joinedAt }: Pick<FeedSession, 'epoch' | 'joinedAt'>,
  { shared, levels, publishing, onWords }: FeedSessionDependencies,
): FeedSession {
  const waiting = new Set<{ readonly number: number; readonly resolve: (isPassed: boolean) => void }>();
  let isOver = false;
  const over = Promise.withResolvers<SessionEnd>();

  function wake(): void {
    const newest = levels.newest();
    for (const one of waiting) {
      if (one.number > newest) continue;
      waiting.delete(one);
      one.resolve(true);
    }
  }

  /** Gives records as long as they are the next ones. Entries of another epoch are those of a new log, or of another writer. */
  async function take(records: readonly SharedRecord[]): Promise<SessionEnd | undefined> {
    const own = records.flatMap((one) => (one.epoch === epoch ? one.record : []));
    const first = levels.newest() + 1;
    const hole = own.findIndex(({ number }, at) => number !== first + at);
    await publishing.take(hole === -1 ? own : own.slice(0, hole));
    wake();
    if (hole !== -1) return 'lost';
    return own.length > 0 && own.length === records.length ? undefined : isAnother();
  }

  async function isAnother(): Promise<SessionEnd | undefined> {
    const now = await shared.join({ epoch, newest: levels.newest() });
    if (now === undefined) return 'away';
    return now.epoch === epoch ? undefined : 'another';
  }

  return {
    epoch,
    joinedAt,
    passed(number, signal) {
      if (isOver || number <= levels.newest()) return Promise.resolve(!isOver);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const one = { number, resolve };
      waiting.add(one);
      signal?.addEventListener('abort', () => waiting.delete(one));
      return promise;
    },
    async follow(start) {
      for (let place = start; ;) {
        const read = await Promise.race([over.promise, shared.read(place, true)]);
        if (read === undefined) return 'away';
        if (typeof read === 'string') return read;
        ({ place } = read);
        const end = await take(read.records);
        // An answer says that the log has all of a former connection, so its records come first.
        onWords(read.words);
        if (isOver) return over.promise;
        if (end !== undefined) return end;
      }
    },
    end(why) {
      isOver = true;
      over.resolve(why);
      for (const { resolve } of waiting) resolve(false);
      waiting.clear();
    },
  };
}
