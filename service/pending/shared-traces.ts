import type { Cluster, Redis } from 'ioredis';
import { isReadable, placesOf, readTrace, TRACE_FORM, writeTrace } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';
import type { TypedKeys } from './typed-keys.ts';

/** A Redis that can be done without: what it does not answer in time is undefined; never rejects. */
export type PendingLink = {
  ask<T>(command: (client: Redis | Cluster) => Promise<T>, timeoutMs: number): Promise<T | undefined>;
  close(): void;
};

/** Traces that all pods of an API see, in Redis. There is a text per trace, a sorted set per place, and an alias per hash. */
export type SharedTraces = {
  /** @param before the trace of the previous simulation. Only its unchanged parts stay. */
  put(trace: PendingTrace, before: PendingTrace | undefined): Promise<void>;
  /** Lets one more hash stand for a trace. @param key in hex, as the hash */
  alias(hash: string, key: string): Promise<void>;
  drop(trace: PendingTrace): Promise<void>;
  /** Keys of a place's traces, oldest first. @param place as `placesOf` names them */
  keysOf(place: string): Promise<readonly string[]>;
  /** The key that another hash stands for. */
  keyBy(hash: string): Promise<string | undefined>;
  get(key: string): Promise<PendingTrace | undefined>;
};

/** Larger traces, of a hundred transactions with code in them, are visible only on their own pod. */
const TRACE_BYTES_MAX = 1 << 20;

/** Traces of a place that are read. */
const PLACE_TRACES_MAX = 100;

export type SharedTracesOptions = {
  /** Names the API and its network: several may share one Redis. */
  readonly scope: string;
  /** Lifetime of a trace, milliseconds. */
  readonly keptMs: number;
};

/** Keys of traces and hashes, in hex. */
export const HASH_TEXT = /^[0-9a-f]{64}$/;

export function createSharedTraces({ scope, keptMs }: SharedTracesOptions, keys: TypedKeys): SharedTraces {
  const prefix = `ton:pending:${TRACE_FORM}:${scope}:`;
  const traceKey = (key: string): string => `${prefix}trace:${key}`;
  const aliasKey = (hash: string): string => `${prefix}alias:${hash}`;
  const placeKey = (place: string): string => `${prefix}of:${place}`;

  async function alias(hash: string, key: string): Promise<void> {
    await keys.ask(aliasKey(hash), (client) => client.set(aliasKey(hash), key, 'PX', keptMs));
  }

  return {
    alias,
    async put(trace, before) {
      const text = writeTrace(trace);
      if (text.length > TRACE_BYTES_MAX) return;
      const key = hex(trace.key);
      const places = placesOf(trace);
      // The trace comes last. A reader of its key finds the trace or its absence.
      const asked = [
        ...places.map((place) =>
          keys.ask(placeKey(place), async (client) => {
            await client.zadd(placeKey(place), String(trace.sentUnixMs), key);
            await client.zremrangebyrank(placeKey(place), 0, -PLACE_TRACES_MAX - 1);
            return client.pexpire(placeKey(place), keptMs);
          }),
        ),
        ...aliasesOf(trace).map((hash) => alias(hash, key)),
      ];
      await Promise.all(asked);
      await keys.ask(traceKey(key), (client) => client.set(traceKey(key), text, 'PX', keptMs));
      const lost = before === undefined ? [] : placesOf(before).filter((place) => !places.includes(place));
      await Promise.all(lost.map((place) => keys.ask(placeKey(place), (client) => client.zrem(placeKey(place), key))));
    },
    async drop(trace) {
      const key = hex(trace.key);
      await keys.ask(traceKey(key), (client) => client.del(traceKey(key)));
      await Promise.all([
        ...aliasesOf(trace).map((hash) => keys.ask(aliasKey(hash), (client) => client.del(aliasKey(hash)))),
        ...placesOf(trace).map((place) => keys.ask(placeKey(place), (client) => client.zrem(placeKey(place), key))),
      ]);
    },
    async keysOf(place) {
      const last = String(PLACE_TRACES_MAX - 1);
      const found = (await keys.ask(placeKey(place), (client) => client.zrange(placeKey(place), '0', last))) ?? [];
      return found.filter((key) => HASH_TEXT.test(key) || keys.malformed());
    },
    async keyBy(hash) {
      const key = (await keys.ask(aliasKey(hash), (client) => client.get(aliasKey(hash)))) ?? undefined;
      return key === undefined || HASH_TEXT.test(key) ? key : keys.malformed();
    },
    async get(key) {
      const text = (await keys.ask(traceKey(key), (client) => client.get(traceKey(key)))) ?? undefined;
      if (text === undefined) return undefined;
      const trace = readTrace(text);
      const isOfKey = trace !== undefined && hex(trace.key) === key && isReadable(trace);
      return isOfKey ? trace : keys.malformed();
    },
  };
}

/** Aliases of a trace besides its key. */
function aliasesOf({ messageHash, rootHash }: PendingTrace): string[] {
  return [hex(messageHash), hex(rootHash)];
}

function hex(hash: Buffer): string {
  return hash.toString('hex');
}
