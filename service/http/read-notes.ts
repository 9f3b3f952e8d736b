import type { Operation } from '../v2/operation.ts';

type Observe = NonNullable<Parameters<Operation['run']>[1]['observe']>;
type ReadEvent = Parameters<Observe>[0];

/** What was done below for one request, all of its operations together. */
export type ReadNotes = {
  readonly observe: Observe;
  /** Resolves when everything that must be over before the answer leaves is over: milliseconds at most. */
  settled(): Promise<void>;
  /** The notes as headers, see `debugHeaders`. */
  headers(): Readonly<Record<string, string>>;
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

/** @param headSeqno masterchain seqno that is served now, for answers that are not made at a head */
export function createReadNotes(headSeqno: () => number | undefined): ReadNotes {
  const liteServers = new Set<number>();
  const reads = new Map<string, number>(sources.map((source) => [source, 0]));
  const pending: Promise<void>[] = [];
  let attempts = 0;
  let answeredAt: number | undefined;

  function observe(event: ReadEvent): void {
    if (event.kind === 'pending') pending.push(event.done);
    if (event.kind === 'head') answeredAt = Math.max(answeredAt ?? 0, event.seqno);
    if (event.kind !== 'read') return;
    attempts += event.attempts;
    reads.set(event.source, (reads.get(event.source) ?? 0) + 1);
    for (const liteServer of event.liteServers) liteServers.add(liteServer);
  }

  return {
    observe,
    async settled() {
      await Promise.all(pending.splice(0));
    },
    headers() {
      const head = answeredAt ?? headSeqno();
      return {
        [debugHeaders.upstreams]: [...liteServers].toSorted((a, b) => a - b).join(',') || '_',
        [debugHeaders.attempts]: attempts.toString(),
        [debugHeaders.cache]: sources.map((source) => `${source}=${reads.get(source)}`).join(', '),
        ...(head !== undefined && { [debugHeaders.head]: head.toString() }),
      };
    },
  };
}
