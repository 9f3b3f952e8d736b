import type { Operation } from '../contract/operation.ts';

type Observe = NonNullable<Parameters<Operation['run']>[1]['observe']>;
type ReadEvent = Parameters<Observe>[0];

/** What was done below for one request, all of its operations together. */
export type ReadNotes = {
  /** Notes of one operation, which count among those of the request. */
  begin(): OperationNotes;
  /** Resolves when everything that must be over before the answer leaves is over: milliseconds at most. */
  settled(): Promise<void>;
  /** The notes as headers, see `debugHeaders`. */
  headers(): Readonly<Record<string, string>>;
};

export type OperationNotes = {
  readonly observe: Observe;
  /** Lite servers that its reads asked so far: what a failure can tell of its making. */
  asked(): readonly number[];
};

/** A caller that sends this header with the value 1 is told of lite servers, attempts, caches and the head. */
export const debugRequestHeader = 'x-tonplane-debug';

/** Headers of an answer to one who asks for them; browsers must be told that scripts may see them. */
export const debugHeaders = {
  upstreams: 'X-Tonplane-Upstreams',
  attempts: 'X-Tonplane-Attempts',
  cache: 'X-Tonplane-Cache',
  head: 'X-Tonplane-Head',
} as const;

/** How reads are told apart in X-Tonplane-Cache, in its order. */
const sources = ['cache', 'redis', 'joined', 'lite_server', 'failed'] as const;

/**
 * Keeps what it is told as it is: few ask for it.
 * @param headSeqno masterchain seqno that is served now, for answers that are not made at a head
 */
export function createReadNotes(headSeqno: () => number | undefined): ReadNotes {
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
