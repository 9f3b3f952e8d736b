import { placesOf } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';

/** Traces of messages that were sent through this process. */
export type OwnTraces = {
  put(trace: PendingTrace): void;
  drop(key: string): void;
  get(key: string): PendingTrace | undefined;
  /** @param place as `placesOf` names them */
  keysOf(place: string): readonly string[];
  /** The key that a hash stands for: a key itself, the hash of a message as sent, or of a foreseen first transaction. */
  keyBy(hash: string): string | undefined;
  readonly size: number;
};

/** By key in hex. What is held is bounded by who watches messages: see `createPending`. */
export function createOwnTraces(): OwnTraces {
  const traces = new Map<string, PendingTrace>();
  const aliases = new Map<string, string>();
  const byPlace = new Map<string, Set<string>>();

  function drop(key: string): void {
    const trace = traces.get(key);
    if (trace === undefined) return;
    traces.delete(key);
    for (const hash of [trace.messageHash, trace.rootHash]) aliases.delete(hash.toString('hex'));
    for (const place of placesOf(trace)) {
      const keys = byPlace.get(place);
      keys?.delete(key);
      if (keys?.size === 0) byPlace.delete(place);
    }
  }

  return {
    put(trace) {
      const key = trace.key.toString('hex');
      drop(key);
      traces.set(key, trace);
      for (const hash of [trace.messageHash, trace.rootHash]) aliases.set(hash.toString('hex'), key);
      for (const place of placesOf(trace)) {
        const keys = byPlace.get(place) ?? new Set();
        byPlace.set(place, keys.add(key));
      }
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
