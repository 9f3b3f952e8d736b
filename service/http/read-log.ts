import type { Operation } from '../contract/operation.ts';

type Observe = NonNullable<Parameters<Operation['run']>[1]['observe']>;
type ReadEvent = Parameters<Observe>[0];

/** Notes on the reads of one request, for all of its operations together. */
export type ReadLog = {
  /** Starts the notes of one operation; they count among the notes of the request. */
  begin(): OperationNotes;
  /** Resolves when everything that must be over before the answer leaves is over: milliseconds at most. */
  settled(): Promise<void>;
  /** The notes as headers, see `debugHeaders`. */
  headers(): Readonly<Record<string, string>>;
};

export type OperationNotes = {
  readonly observe: Observe;
  /** Lite servers that the reads asked so far, for reports of failures. */
  asked(): readonly number[];
};

/** Request header that asks, with the value 1, for headers about lite servers, attempts, caches and the head. */
export const debugRequestHeader = 'x-tonplane-debug';

/** Headers of an answer with debug facts. Scripts in browsers may read them only when they are exposed. */
export const debugHeaders = {
  upstreams: 'X-Tonplane-Upstreams',
  attempts: 'X-Tonplane-Attempts',
  cache: 'X-Tonplane-Cache',
  head: 'X-Tonplane-Head',
} as const;

/** Sources of reads in X-Tonplane-Cache, in its order. */
const sources = ['cache', 'redis', 'joined', 'lite_server', 'failed'] as const;

/**
 * Stores notes without processing, because few callers ask for them.
 * @param headSeqno masterchain seqno that is served now, for answers that are not made at a head
 */
export function createReadLog(headSeqno: () => number | undefined): ReadLog {
  const operations: ReadEvent[][] = [];
  const eventsOf = <K extends ReadEvent['kind']>(kind: K) =>
    operations.flat().filter((event): event is Extract<ReadEvent, { kind: K }> => event.kind === kind);

  return {
    begin() {
      const events: ReadEvent[] = [];
      operations.push(events);
      return {
        observe: (event) => void events.push(event),
        asked() {
          const sets = events.flatMap((event) => (event.kind === 'asked' ? [event.liteServers] : []));
          return [...new Set(sets.flatMap((liteServers) => [...liteServers]))];
        },
      };
    },
    async settled() {
      await Promise.all(eventsOf('pending').map(({ done }) => done));
    },
    headers() {
      const reads = eventsOf('read');
      const seqnos = eventsOf('head').map(({ seqno }) => seqno);
      const head = seqnos.length > 0 ? Math.max(...seqnos) : headSeqno();
      const liteServers = new Set(reads.flatMap((read) => read.liteServers));
      const from = (source: string): number => reads.filter((read) => read.source === source).length;
      return {
        [debugHeaders.upstreams]: [...liteServers].toSorted((a, b) => a - b).join(',') || '_',
        [debugHeaders.attempts]: reads.reduce((sum, { attempts }) => sum + attempts, 0).toString(),
        [debugHeaders.cache]: sources.map((source) => `${source}=${from(source)}`).join(', '),
        ...(head !== undefined && { [debugHeaders.head]: head.toString() }),
      };
    },
  };
}
