import { RawJson, writePaced } from '../contract/json-stream.ts';
import { createBoundedCache } from '../runtime/bounded-cache.ts';
import { createSharedRead } from '../runtime/shared-read.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { CacheMetrics } from './metrics.ts';
import type { AnswerCache, V3Context } from './request/operation.ts';
import { TIMEOUT_MS_MAX } from './request/settings.ts';

/*
 * Answers that are the same until the index changes. Such an answer is made once for a state of the index and sent again as bytes. Each
 * request needs a state that was read after the request came. So an answer includes every commit before its request, of any table.
 */

export type AnswerCacheDependencies = {
  /** Reads the state of the index; undefined when unknown. */
  readonly readState: () => Promise<string | undefined>;
  /** Milliseconds, ascending. */
  readonly nowMs: () => number;
  /** Absent: nothing is counted. */
  readonly metrics?: CacheMetrics | undefined;
};

/** Least weight of an entry: its objects, its key and a Buffer's own memory. The cache has at most 2,048 entries. */
const ENTRY_BYTES = 4096;

/** Parameters of a newest page have some hundred letters; longer ones are seldom repeated. */
const KEY_LETTERS_MAX = 1000;

/** The query takes some 0.2 ms. After a second requests make their own answers. */
const STATE_TIMEOUT_MS = 1000;

/**
 * Lifetime of an entry. Due fetches of token metadata are requested while answers are made. A replaced database could repeat the text of a
 * state.
 */
const CACHED_MS_MAX = 10_000;

type MadeAnswer = {
  readonly json: string | Buffer;
  readonly nextCursor: string | undefined;
};

type Entry = { readonly state: string; readonly endMs: number; readonly answer: MadeAnswer };

type Flight = { readonly state: string; readonly answer: Promise<MadeAnswer> };

export function createAnswerCache(
  options: { readonly bytesMax: number },
  { readState, nowMs, metrics }: AnswerCacheDependencies,
): AnswerCache {
  const cached = createBoundedCache(options);
  const flights = new Map<string, Flight>();
  const stateNow = createSharedRead({ timeoutMs: STATE_TIMEOUT_MS }, readState);
  metrics?.holds('answers', cached.bytes);

  /** A usable answer, or one that another caller makes, which may fail; undefined without either. */
  const look = (key: string, state: string): MadeAnswer | Promise<MadeAnswer | undefined> | undefined => {
    const entry = cached.get(key) as Entry | undefined;
    if (entry?.state === state && nowMs() < entry.endMs) return entry.answer;
    const flight = flights.get(key);
    return flight?.state === state ? flight.answer.catch(() => undefined) : undefined;
  };

  const begin = async (key: string, state: string, making: Promise<MadeAnswer>): Promise<MadeAnswer> => {
    const flight: Flight = { state, answer: making };
    const endMs = nowMs() + CACHED_MS_MAX;
    flights.set(key, flight);
    try {
      const answer = await making;
      const entry: Entry = { state, endMs, answer };
      if (flights.get(key) === flight) cached.set(key, entry, weightOf(key, answer));
      return answer;
    } finally {
      if (flights.get(key) === flight) flights.delete(key);
    }
  };

  return {
    async find(name, values, context, make) {
      const key = keyOf(name, values, context);
      const state = key === undefined ? undefined : await stateNow();
      if (key === undefined || state === undefined) return make(context);
      // Without an answer nothing is awaited before this caller's own flight begins: callers of the same moment join the flight.
      let looked = look(key, state);
      let found = looked === undefined ? undefined : await looked;
      if (looked !== undefined && found === undefined) {
        // The flight failed, as when its caller leaves. The first of its other callers begins the next flight, which the rest joins.
        looked = look(key, state);
        found = looked === undefined ? undefined : await looked;
      }
      metrics?.counted('answers', found === undefined ? 'made' : 'cached');
      const answer = found ?? (await begin(key, state, write(context, make)));
      if (answer.nextCursor !== undefined) context.onNextPage(answer.nextCursor);
      return new RawJson([answer.json]);
    },
  };
}

/** Values and settings that an answer depends on. Undefined for a request with a time limit of its own: it waits for no other request. */
function keyOf(
  name: string,
  values: Readonly<Record<string, unknown>>,
  { settings: { timeoutMs, ...settings }, store: { passes2038 } }: V3Context,
): string | undefined {
  if (timeoutMs !== TIMEOUT_MS_MAX) return undefined;
  const given = Object.values(values).map((value) => (typeof value === 'bigint' ? value.toString() : value));
  const key = JSON.stringify([name, given, settings, passes2038]);
  return key.length > KEY_LETTERS_MAX ? undefined : key;
}

/** Rejects when the context ends, even while `make` still waits. */
async function write(context: V3Context, make: (context: V3Context) => Promise<object>): Promise<MadeAnswer> {
  const { signal } = context;
  let nextCursor: string | undefined;
  const onNextPage = (cursor: string): void => {
    nextCursor = cursor;
  };
  const making = (async () => writePaced(await make({ ...context, onNextPage }), createTimeSlice(signal)))();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const text = await Promise.race([making, ended]);
    // Pieces are parts of larger memory.
    return { json: typeof text === 'string' ? text : Buffer.concat(text), nextCursor };
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A string takes up to two bytes a letter. */
function weightOf(key: string, { json, nextCursor = '' }: MadeAnswer): number {
  const bytes = typeof json === 'string' ? 2 * json.length : json.length;
  return Math.max(ENTRY_BYTES, bytes + 2 * (key.length + nextCursor.length));
}
