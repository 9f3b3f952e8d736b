import { TRACE_FORM } from './pending-trace.ts';
import { HASH_TEXT } from './shared-traces.ts';
import type { TypedKeys } from './typed-keys.ts';

/** Leases of sent messages: a pod holds each lease until a time. Any pod takes expired leases. The leases are one sorted set in Redis. */
export type WatchLeases = {
  /**
   * Leases messages for `LEASE_MS` from now on. Returns the number of leases that Redis did not have before.
   * @param keys of leases that are in Redis, or should be
   */
  hold(keys: readonly string[], unixMs: number): Promise<number>;
  /** Takes messages whose pod has not been heard of in time, `max` at most: no two pods get the same. */
  takeOver(max: number, unixMs: number): Promise<readonly string[]>;
  /** Leaves messages to the next pod that looks for leases. */
  leave(keys: readonly string[]): Promise<void>;
  /** Ends the leases: no pod simulates these messages any more. */
  drop(keys: readonly string[]): Promise<void>;
};

/** Lifetime of a lease. A pod renews it five times in this time, so a silent pod is gone. */
export const LEASE_MS = 10_000;

/** KEYS[1] the leases, ARGV: 1 time, 2 time until which the new leases last, 3 most to take. Returns the keys taken. */
const takeScript = `
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, key in ipairs(found) do redis.call('ZADD', KEYS[1], ARGV[2], key) end
return found
`;

export type WatchLeasesOptions = {
  /** Scope of the Redis keys, the same as for shared traces. */
  readonly scope: string;
  /** Time without any lease after which the set expires, milliseconds. */
  readonly keptMs: number;
};

export function createWatchLeases({ scope, keptMs }: WatchLeasesOptions, typed: TypedKeys): WatchLeases {
  const name = `ton:pending:${TRACE_FORM}:${scope}:leases`;

  return {
    async hold(keys, unixMs) {
      if (keys.length === 0) return 0;
      const untilMs = String(unixMs + LEASE_MS);
      const pairs = keys.flatMap((key) => [untilMs, key]);
      const added = await typed.ask(name, async (client) => {
        const count = await client.zadd(name, ...pairs);
        await client.pexpire(name, keptMs);
        return count;
      });
      return added ?? 0;
    },
    async takeOver(max, unixMs) {
      const take = [String(unixMs), String(unixMs + LEASE_MS), String(max)];
      const found = await typed.ask(name, (client) => client.eval(takeScript, 1, name, ...take));
      const taken = Array.isArray(found) ? found.map(String) : [];
      const others = taken.filter((key) => !HASH_TEXT.test(key));
      if (others.length === 0) return taken;
      others.forEach(() => typed.malformed());
      await typed.ask(name, (client) => client.zrem(name, ...others));
      return taken.filter((key) => HASH_TEXT.test(key));
    },
    async leave(keys) {
      if (keys.length === 0) return;
      const pairs = keys.flatMap((key) => ['0', key]);
      await typed.ask(name, (client) => client.zadd(name, 'XX', ...pairs));
    },
    async drop(keys) {
      if (keys.length > 0) await typed.ask(name, (client) => client.zrem(name, ...keys));
    },
  };
}
