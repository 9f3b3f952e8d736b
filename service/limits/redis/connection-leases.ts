import type { RedisMetrics } from '../metrics.ts';
import type { OnRedisFailure } from '../options.ts';
import { typedCommand } from './script.ts';
import { scriptOf } from './script-batcher.ts';
import type { RedisSession } from './redis-session.ts';

/** A connection that asks for its place. */
export type LeaseRequest = {
  /** Name of the budget that the connections are counted under. */
  readonly owner: string;
  /** Number of the connection, unique over all pods. */
  readonly connection: number;
  readonly max: number;
  /** Connections of the owner at this pod, this one included. */
  readonly here: number;
  /** Number of a connection of the same owner whose place this one takes. */
  readonly replaced: number | undefined;
};

/** Places of long connections, counted over all pods. A place is a lease: without renewal it is free again. */
export type ConnectionLeases = {
  /** Resolves to true when the connection has a place. `onRedisFailure` decides while Redis is away. */
  readonly take: (request: LeaseRequest) => Promise<boolean>;
  /** Resolves to false when another connection took the place. Always true while Redis is away. */
  readonly renew: (owner: string, connection: number) => Promise<boolean>;
  readonly free: (owner: string, connection: number) => void;
};

/** Milliseconds until the place of a lost pod's connection is free. */
const LEASE_MS = 30_000;

/**
 * Takes, renews and frees leases.
 * - KEYS[i]: sorted set of an owner's connections by the end of their lease in Unix milliseconds. A replaced connection has the negative.
 * - ARGV[1]: milliseconds of a lease.
 * - ARGV[1 + i]: `take,connection,max,replaced`, `renew,connection,,` or `free,connection,,`.
 *
 * Answers two numbers for each key. The first is 1 if the connection has its place, else 0. The second is 1 if the key had another type.
 */
const leasesScript = `${typedCommand}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local leaseMs, answers = tonumber(ARGV[1]), {}
local stop = string.format('%.0f', now + leaseMs)
for index = 1, #KEYS do
  local key, wrong, granted = KEYS[index], 0, 1
  local op, connection, max, replaced = string.match(ARGV[1 + index], '^(%a+),(%d+),(%d*),(%d*)$')
  local at = string.format('%.0f', now)
  if not typed('ZREMRANGEBYSCORE', key, '-' .. at, at) then wrong = 1 end
  if op == 'free' then
    redis.call('ZREM', key, connection)
  elseif op == 'renew' then
    local score = redis.call('ZSCORE', key, connection)
    if score and tonumber(score) < 0 then granted = 0 else redis.call('ZADD', key, stop, connection) end
  else
    local count = redis.call('ZCOUNT', key, '(0', '+inf')
    local own = redis.call('ZSCORE', key, connection)
    local former = replaced ~= '' and redis.call('ZSCORE', key, replaced)
    local isFormer = former and tonumber(former) > 0
    if isFormer then count = count - 1 end
    if count < tonumber(max) or (own and tonumber(own) > 0) then
      if isFormer then redis.call('ZADD', key, '-' .. stop, replaced) end
      redis.call('ZADD', key, stop, connection)
    else
      granted = 0
    end
  end
  redis.call('PEXPIRE', key, leaseMs)
  answers[2 * index - 1], answers[2 * index] = granted, wrong
end
return answers
`;

export function createConnectionLeases(
  { api, rule }: { readonly api: string; readonly rule: () => OnRedisFailure },
  { store, metrics }: { readonly store: RedisSession; readonly metrics: Pick<RedisMetrics, 'malformed'> },
): ConnectionLeases {
  const questions = store.questions({ script: scriptOf(leasesScript), common: [LEASE_MS], answerLength: 2 });
  const ask = async (owner: string, argument: string): Promise<boolean> => {
    const [granted, wrong] = await questions.ask(`streams:${api}:{${owner}}`, argument);
    if (wrong === 1) metrics.malformed('places');
    return granted === 1;
  };

  const away = ({ max, here }: LeaseRequest): boolean => {
    if (rule() === 'Local') return here <= Math.max(1, Math.floor(max / store.pods));
    return rule() === 'Open';
  };

  return {
    take: (request) =>
      ask(request.owner, `take,${request.connection},${request.max},${request.replaced ?? ''}`).catch(() =>
        away(request),
      ),
    renew: (owner, connection) => ask(owner, `renew,${connection},,`).catch(() => true),
    free(owner, connection) {
      // The lease of a place that is not freed ends by itself.
      void ask(owner, `free,${connection},,`).catch(() => undefined);
    },
  };
}
