import { createHash } from 'node:crypto';

import type { SharedHeads } from '../monotonic-heads.ts';
import type { ZeroStateId } from '../head.ts';
import { isWrongType, type RedisClient, type BoundedRedis } from './bounded-redis.ts';

/**
 * Milliseconds that requests wait for a floor, and heads for their announcement. A Redis in the same cluster answers in 1 ms. Only a pod behind the
 * newest head, and a caller's first answer at a block, wait for it.
 */
export const FLOOR_MS = 100;

/** Milliseconds since the listener answered a probe, in which the other pods' head counts as known. */
const HEARD_MS = 2_500;

const HEARING_PROBE_MS = 1_000;

/** Largest seqno in TL. */
const SEQNO_MAX = 2 ** 31 - 1;

/** Reads the seqno in KEYS[1], 0 for none. `wrong` is 1 if the key has another value, which counts as none and is overwritten. */
const readSeqno = `
local text, stored, wrong = redis.pcall('GET', KEYS[1]), 0, 0
if text then
  local isText = type(text) == 'string' and string.find(text, '^%d+$') and #text <= 10
  if isText and tonumber(text) <= ${SEQNO_MAX} then stored = tonumber(text) else wrong = 1 end
end
local seqno = tonumber(ARGV[1])
`;

/**
 * Raises a seqno. KEYS[1] a seqno, ARGV: 1 another, 2 milliseconds until it expires. Stores and answers the higher one, and `wrong` of `readSeqno`.
 */
const raiseScript = `${readSeqno}
if stored > seqno then seqno = stored end
redis.call('SET', KEYS[1], string.format('%.0f', seqno), 'PX', ARGV[2])
return {seqno, wrong}
`;

/** Raises a seqno like raiseScript, and publishes it to the channel ARGV[3] if it is higher than the stored one. */
const announceScript = `${readSeqno}
if seqno > stored then redis.call('PUBLISH', ARGV[3], ARGV[1]) else seqno = stored end
redis.call('SET', KEYS[1], string.format('%.0f', seqno), 'PX', ARGV[2])
return {seqno, wrong}
`;

export type SharedFloorsOptions = {
  /** Scope of the TonApi, because callers of different TonApis are unrelated. */
  readonly api: string;
  readonly zeroState: ZeroStateId;
  /** Milliseconds until a floor expires. */
  readonly keptMs: number;
};

/**
 * Floors in Redis: one seqno for each caller, and the newest one of all pods, whose changes each pod receives. Every script has one key, so that it
 * runs in a cluster.
 * @param listener a connection of its own that receives the newest seqno. None for a cluster, whose nodes pass messages on late; every caller's floor
 *   is read there.
 */
export function createSharedFloors(
  options: SharedFloorsOptions,
  {
    link,
    listener,
    headSeqno,
    onMalformed,
  }: { link: BoundedRedis; listener: RedisClient | undefined; headSeqno: () => number; onMalformed: () => void },
): SharedHeads & { close(): void } {
  const scope = `${options.api}:${options.zeroState.rootHash.toString('hex').slice(0, 16)}`;
  const newestKey = `ton:newest:${scope}`;
  const keptMs = String(options.keptMs);
  let newest = 0;
  let heardMs = Number.NEGATIVE_INFINITY;
  let isListening = false;

  // A key's id or an address is never written into Redis.
  const keyOf = (caller: string): string =>
    `ton:floor:${scope}:${createHash('sha256').update(caller).digest('base64url').slice(0, 22)}`;

  const run = async (client: RedisClient, script: string, key: string, seqno: number): Promise<unknown> => {
    const [raised, wrong] = (await client.eval(script, 1, key, seqno, keptMs, newestKey)) as readonly unknown[];
    if (wrong === 1) onMalformed();
    return raised;
  };

  const announceBy = (client: RedisClient, seqno: number): Promise<unknown> =>
    run(client, announceScript, newestKey, seqno);

  function learn(announced: unknown): void {
    newest = Math.max(newest, seqnoOf(announced) ?? 0);
  }

  async function listen(line: RedisClient): Promise<void> {
    await line.subscribe(newestKey);
    // The subscription delivers later messages only, so the current value is queried.
    const announced = await link.ask((client) => announceBy(client, headSeqno()), FLOOR_MS);
    if (announced === undefined) return;
    learn(announced);
    isListening = true;
    heardMs = performance.now();
  }

  async function probe(line: RedisClient): Promise<void> {
    if (line.status !== 'ready') return;
    try {
      if (!isListening) return await listen(line);
      const sentMs = performance.now();
      await line.ping();
      heardMs = sentMs;
    } catch {
      // The connection is gone; the client replaces it.
    }
  }

  const ticker = listener && setInterval(() => void probe(listener), HEARING_PROBE_MS);
  listener?.on('ready', () => void probe(listener));
  listener?.on('message', (_channel, announced) => learn(announced));
  listener?.on('close', () => (isListening = false));
  listener?.on('error', () => undefined);

  return {
    newest: () => (isListening && performance.now() - heardMs < HEARD_MS ? newest : undefined),
    async announce(seqno) {
      learn(await link.ask((client) => announceBy(client, seqno), FLOOR_MS));
    },
    async read(caller) {
      const key = keyOf(caller);
      const answer = await link.ask((client) => client.get(key).catch(noText), FLOOR_MS);
      const floor = seqnoOf(answer);
      if (floor === undefined && typeof answer === 'string') onMalformed();
      // No pod answers at a block before its announcement. No pod wrote a value that says so.
      return floor !== undefined && floor > newest && isListening ? undefined : floor;
    },
    async raise(caller, seqno) {
      const key = keyOf(caller);
      return (await link.ask((client) => run(client, raiseScript, key, seqno), FLOOR_MS)) !== undefined;
    },
    replace(caller, seqno) {
      const key = keyOf(caller);
      void link.ask((client) => client.set(key, seqno, 'PX', keptMs), FLOOR_MS);
    },
    close() {
      clearInterval(ticker);
      listener?.disconnect();
    },
  };
}

/** Handles a key of another type, which is no seqno. */
function noText(error: unknown): string {
  if (isWrongType(error)) return '';
  throw error;
}

/** Parses a seqno from Redis; undefined for a missing or malformed value. */
function seqnoOf(value: unknown): number | undefined {
  const seqno = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof seqno === 'number' && seqno <= SEQNO_MAX ? seqno : undefined;
}
