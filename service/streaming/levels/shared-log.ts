import type { Cluster, Redis } from 'ioredis';

import { streamingDefaults } from '#service/config/streaming.ts';
import { ownCopy } from '#service/decode/own-bytes.ts';
import type { PendingLink } from '#service/pending/shared-traces.ts';
import type { FormerQuestion } from '../hub/formers.ts';
import { levelsBounds, recordedMsOf, type TimedRecord } from '../hub/levels-log.ts';
import { decodeChange, decodeHead, type EncodedRecord } from './record-codec.ts';
import type { Change } from '../changes.ts';

/** A log of levels that all pods of an API share in Redis (service/streaming/README.md#order). What Redis does not answer in time is undefined. */
export type SharedLog = {
  /** Adds a record, unless the newest one of its thing and level is equal. Refuses a withdrawal of a snapshot that is not the newest one. */
  readonly append: (record: EncodedRecord, known: KnownEnd) => Promise<Appended | undefined>;
  /** Beginning of the log. Makes the log if there is none, or if it is not whole. */
  readonly join: (known: KnownEnd) => Promise<SharedBeginning | undefined>;
  /** Entries behind a place. @param waits for the first one, up to a second */
  readonly read: (after: ReadPlace, waits: boolean) => Promise<ReadEntries | undefined>;
  /** Asks or answers the other pods. */
  readonly say: (words: readonly Word[]) => Promise<void>;
  /** Reports whether this pod is the first one to claim a piece of work in five seconds. */
  readonly claim: (work: string) => Promise<boolean | undefined>;
  readonly close: () => void;
};

/** Log and number of the newest record that a process has read. A log of this epoch that ends before it lost its tail. */
export type KnownEnd = { readonly epoch: number; readonly newest: number };

export type Appended = {
  readonly epoch: number;
  /** Number of the record, of the equal one, or of the newer snapshot. */
  readonly number: number;
  readonly isNew: boolean;
  /** A withdrawal was refused: its level has a newer snapshot. */
  readonly isOutdated: boolean;
};

export type SharedBeginning = {
  readonly epoch: number;
  /** Number of the newest record. */
  readonly newest: number;
  /** Milliseconds since the newest removed record, and since the newest one that was removed before its time; null for none. */
  readonly droppedAgeMs: number | null;
  readonly cutAgeMs: number | null;
  /** Unix milliseconds of Redis. */
  readonly unixMs: number;
};

/** Ids of the newest entries that were read. */
export type ReadPlace = { readonly log: string; readonly words: string };

export type ReadEntries = {
  readonly records: readonly SharedRecord[];
  readonly words: readonly Word[];
  readonly place: ReadPlace;
};

export type SharedRecord = TimedRecord & { readonly epoch: number };

/** Questions and answers of pods about connections that come back. */
export type Word =
  | { readonly kind: 'question'; readonly name: string; readonly question: FormerQuestion }
  | { readonly kind: 'answer'; readonly name: string; readonly since: number };

export type SharedLogOptions = {
  /** Names the API and its network: several may share one Redis. */
  readonly scope: string;
};

export type SharedLogDependencies = {
  readonly link: PendingLink;
  /** A second connection: a read that waits stops the commands behind it. */
  readonly reading: PendingLink;
  readonly randomEpoch: () => number;
  /** Milliseconds for which a cut connection may resume; default ten minutes. The pod that adds a record removes older ones. */
  readonly shortMs?: () => number;
};

/** Limit of a command, in milliseconds. A pending event waits no longer for Redis. */
const ANSWER_MS = 1_000;

/** Milliseconds for which a read waits for an entry. */
const BLOCK_MS = 1_000;

/** Entries of one reading. */
const READ_MAX = 64;

/** Entries with questions and answers that are there: each is read within milliseconds. */
const WORDS_MAX = 1_000;

/** Milliseconds of a claim: the bound of the simulation of a tail. */
const CLAIM_MS = 5_000;

/** Milliseconds without a pod after which the log goes: a day. */
const UNUSED_MS = 86_400_000;

/** Records of another form have another name. */
const FORM = 2;

/**
 * Begins each script, and makes the log again if it is not whole. Redis may have evicted a part of it. Another writer's value may be there.
 * After a failover the newest records may be missing.
 * - KEYS: the stream, its data.
 * - ARGV: an epoch for a new log, milliseconds without a pod after which the log goes, `KnownEnd`.
 */
const begin = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local epoch, newest = unpack(redis.call('HMGET', KEYS[2], 'epoch', 'next'))
local kind = redis.call('TYPE', KEYS[1]).ok
local isLost = kind ~= 'stream' and (newest or kind ~= 'none')
local isShort = epoch == ARGV[3] and tonumber(newest or '0') < tonumber(ARGV[4])
if not epoch or isLost or isShort then
  redis.call('DEL', KEYS[1], KEYS[2])
  epoch = ARGV[1]
  redis.call('HSET', KEYS[2], 'epoch', epoch)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
`;

const joinScript = `${begin}
local found = redis.call('HMGET', KEYS[2], 'next', 'droppedMs', 'cutMs')
return {epoch, found[1] or '0', found[2] or '', found[3] or '', string.format('%.0f', now)}
`;

/**
 * Adds a record and removes old ones.
 * - KEYS[3]: hash of the thing, by level: epoch, number and print of its newest record.
 * - ARGV: those of `begin`, then level, print, 1 for a reset, head, body, bounds in records, bytes and milliseconds.
 *   For a withdrawal then level, and `epoch:number` of the withdrawn snapshot.
 *
 * Answers epoch, number, and 1 for a new record, 2 for a refused withdrawal.
 */
const appendScript = `${begin}
local known = redis.call('HGET', KEYS[3], ARGV[5])
if known then
  local of, number, print = string.match(known, '^(%d+):(%d+):(.*)$')
  if of == epoch and print == ARGV[6] then return {epoch, number, 0} end
end
local newest = ARGV[13] and redis.call('HGET', KEYS[3], ARGV[13])
if newest then
  local of, number = string.match(newest, '^(%d+):(%d+):')
  if of == epoch and of .. ':' .. number ~= ARGV[14] then return {epoch, number, 2} end
end
local number = string.format('%.0f', redis.call('HINCRBY', KEYS[2], 'next', 1))
redis.call('XADD', KEYS[1], '*', 'n', number, 'e', epoch, 'h', ARGV[8], 'b', ARGV[9])
if ARGV[7] == '1' then redis.call('DEL', KEYS[3]) else redis.call('HDEL', KEYS[3], 'reset') end
redis.call('HSET', KEYS[3], ARGV[5], epoch .. ':' .. number .. ':' .. ARGV[6])
if redis.call('PTTL', KEYS[3]) < 0 then redis.call('PEXPIRE', KEYS[3], ARGV[12]) end
local bytes = redis.call('HINCRBY', KEYS[2], 'bytes', #ARGV[8] + #ARGV[9])
local count = redis.call('XLEN', KEYS[1])
for _ = 1, 100 do
  local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  local ms = tonumber(string.match(first[1], '^(%d+)'))
  local isOld = now - ms >= tonumber(ARGV[12])
  if count <= 1 or not (isOld or count > tonumber(ARGV[10]) or bytes > tonumber(ARGV[11])) then break end
  redis.call('XDEL', KEYS[1], first[1])
  count = count - 1
  bytes = redis.call('HINCRBY', KEYS[2], 'bytes', 0 - #(first[2][6] or '') - #(first[2][8] or ''))
  redis.call('HSET', KEYS[2], 'droppedMs', string.format('%.0f', ms))
  if not isOld then redis.call('HSET', KEYS[2], 'cutMs', string.format('%.0f', ms)) end
end
return {epoch, number, 1}
`;

export function createSharedLog({ scope }: SharedLogOptions, dependencies: SharedLogDependencies): SharedLog {
  const { link, reading, randomEpoch, shortMs = () => streamingDefaults.replay.shortMs } = dependencies;
  // All keys are in one slot of a cluster.
  const prefix = `ton:levels:${FORM}:{${scope}}:`;
  const [log, data, words] = [`${prefix}log`, `${prefix}data`, `${prefix}words`];

  /** A key that another writer gave another type is removed. */
  function ask<T>(keys: readonly string[], command: (client: Redis | Cluster) => Promise<T>): Promise<T | undefined> {
    return link.ask(async (client) => {
      try {
        return await command(client);
      } catch (error) {
        if (!isWrongType(error)) throw error;
        await client.del(...keys);
        return command(client);
      }
    }, ANSWER_MS);
  }

  const beginning = ({ epoch, newest }: KnownEnd) => [randomEpoch(), UNUSED_MS, epoch, newest];

  return {
    async append({ thing, level, print, isReset, withdraws, head, body }, known) {
      const keys = [log, data, `${prefix}${thing}`];
      const { records, bytes } = levelsBounds;
      const recordedMs = recordedMsOf(shortMs());
      const withdrawn = withdraws === null ? [] : [withdraws.level, `${withdraws.epoch}:${withdraws.number}`];
      const kind = [level, print, isReset ? 1 : 0] as const;
      const values = [...beginning(known), ...kind, head, body, records, bytes, recordedMs, ...withdrawn];
      const found = await ask(keys, (client) => client.eval(appendScript, keys.length, ...keys, ...values));
      if (found === undefined) return undefined;
      const [epoch, number, result] = found as readonly [string, string, number];
      return { epoch: Number(epoch), number: Number(number), isNew: result === 1, isOutdated: result === 2 };
    },
    async join(known) {
      const keys = [log, data];
      const found = await ask(keys, (client) => client.eval(joinScript, keys.length, ...keys, ...beginning(known)));
      if (found === undefined) return undefined;
      const [epoch, newest, dropped, cut, now] = found as readonly [string, string, string, string, string];
      const unixMs = Number(now);
      const ageOf = (text: string): number | null => (text === '' ? null : unixMs - Number(text));
      return {
        epoch: Number(epoch),
        newest: Number(newest),
        droppedAgeMs: ageOf(dropped),
        cutAgeMs: ageOf(cut),
        unixMs,
      };
    },
    async read(after, waits) {
      const from = [log, words, after.log, after.words] as const;
      const found = await reading.ask(async (client) => {
        try {
          return await (waits
            ? client.xreadBuffer('COUNT', READ_MAX, 'BLOCK', BLOCK_MS, 'STREAMS', ...from)
            : client.xreadBuffer('COUNT', READ_MAX, 'STREAMS', ...from));
        } catch (error) {
          // The next join removes a log of another type.
          if (isWrongType(error)) await client.del(words);
          throw error;
        }
      }, BLOCK_MS + ANSWER_MS);
      return found === undefined ? undefined : readEntries(found, log, after);
    },
    async say(said) {
      const text = JSON.stringify(said);
      await ask([words], async (client) => {
        await client.xadd(words, 'MAXLEN', '~', WORDS_MAX, '*', 'w', text);
        return client.pexpire(words, UNUSED_MS);
      });
    },
    async claim(work) {
      const key = `${prefix}work:${work}`;
      return link.ask(async (client) => (await client.set(key, 1, 'PX', CLAIM_MS, 'NX')) !== null, ANSWER_MS);
    },
    close() {
      link.close();
      reading.close();
    },
  };
}

/** Answer of XREAD: streams with their entries, and each entry with its fields. */
type Streams = readonly (readonly [Buffer, readonly (readonly [Buffer, readonly Buffer[]])[]])[];

function readEntries(found: Streams | null, log: string, after: ReadPlace): ReadEntries {
  const records: SharedRecord[] = [];
  const said: Word[] = [];
  const place = { ...after };
  for (const [name, entries] of found ?? []) {
    const isLog = name.toString() === log;
    for (const [id, fields] of entries) {
      place[isLog ? 'log' : 'words'] = id.toString();
      if (isLog) records.push(...readable(() => readRecord(id.toString(), fields)));
      else
        said.push(
          ...readable(() => JSON.parse(fields[1]!.toString()) as readonly Word[])
            .flat()
            .filter(isWord),
        );
    }
  }
  return { records, words: said, place };
}

function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes('WRONGTYPE');
}

/** Reports whether a value has the form of a word: another writer may have put it there. */
function isWord(word: Word | null): boolean {
  if (typeof word?.name !== 'string') return false;
  if (word.kind === 'answer') return Number.isSafeInteger(word.since);
  const { place, types } = word.question ?? {};
  return Array.isArray(types) && Number.isSafeInteger(place?.mark);
}

/** An entry of another writer is left out. Readers see the hole of a number. */
function readable<T>(read: () => T): readonly T[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}

/** @returns a record with its Unix milliseconds */
function readRecord(id: string, [, number, , epoch, , head, , body]: readonly Buffer[]): SharedRecord {
  let known: WeakRef<Change> | undefined;
  const decoded = decodeHead(head!.toString());
  // A part of an answer of Redis, or of Node's pool, would retain all of it.
  const bytes = ownCopy(body!);
  const record = {
    number: Number(number!.toString()),
    ...decoded,
    bytes: head!.length + bytes.length,
    async change(): Promise<Change | undefined> {
      const there = known?.deref();
      if (there !== undefined) return there;
      const made = await decodeChange(bytes, decoded.head.kind);
      known = made && new WeakRef(made);
      return made;
    },
  };
  return { record, atMs: Number(id.split('-')[0]), epoch: Number(epoch!.toString()) };
}
