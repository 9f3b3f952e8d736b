import { placesOf } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';

/** Traces of messages that were sent through this process. */
export type LocalTraces = {
  /** The hashes that the same trace had before go on standing for it. */
  put(trace: PendingTrace): void;
  /** Lets one more hash stand for a trace that is there. */
  alias(hash: string, key: string): void;
  drop(key: string): void;
  get(key: string): PendingTrace | undefined;
  /** @param place as `placesOf` names them */
  keysOf(place: string): readonly string[];
  /** Key of a trace for a hash: the key itself, or the hash of its sent message or first transaction. */
  keyBy(hash: string): string | undefined;
  readonly size: number;
};

/** Aliases of a trace besides its key. Each block may change the hash of its first transaction; a caller's hash is at most a minute old. */
const ALIASES_MAX = 100;

/** Traces by key in hex. The limit of watched messages bounds their number: see `createPending`. */
export function createLocalTraces(): LocalTraces {
  const traces = new Map<string, PendingTrace>();
  const aliases = new Map<string, string>();
  /** Aliases by key, oldest first. */
  const aliasesOf = new Map<string, Set<string>>();
  const byPlace = new Map<string, Set<string>>();

  function alias(hash: string, key: string): void {
    const hashes = aliasesOf.get(key) ?? new Set();
    hashes.delete(hash);
    aliasesOf.set(key, hashes.add(hash));
    aliases.set(hash, key);
    const [oldest] = hashes;
    if (hashes.size <= ALIASES_MAX || oldest === undefined) return;
    hashes.delete(oldest);
    aliases.delete(oldest);
  }

  function leavePlaces(key: string): void {
    const trace = traces.get(key);
    if (trace === undefined) return;
    for (const place of placesOf(trace)) {
      const keys = byPlace.get(place);
      keys?.delete(key);
      if (keys?.size === 0) byPlace.delete(place);
    }
  }

  function drop(key: string): void {
    leavePlaces(key);
    traces.delete(key);
    for (const hash of aliasesOf.get(key) ?? []) aliases.delete(hash);
    aliasesOf.delete(key);
  }

  return {
    put(trace) {
      const key = trace.key.toString('hex');
      leavePlaces(key);
      traces.set(key, trace);
      // The message's own hash as the newest: it is not to be forgotten.
      for (const hash of [trace.rootHash, trace.messageHash]) alias(hash.toString('hex'), key);
      for (const place of placesOf(trace)) {
        const keys = byPlace.get(place) ?? new Set();
        byPlace.set(place, keys.add(key));
      }
    },
    alias: (hash, key) => {
      if (traces.has(key)) alias(hash, key);
    },
    drop,
    get: (key) => traces.get(key),
    keysOf: (place) => [...(byPlace.get(place) ?? [])],
    keyBy: (hash) => (traces.has(hash) ? hash : aliases.get(hash)),
    get size() {
      return traces.size;
    },
  };
}
