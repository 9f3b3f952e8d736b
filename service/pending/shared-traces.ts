import type { Cluster, Redis } from 'ioredis';
import { readTrace, TRACE_FORM, writeTrace } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';

/** A Redis that can be done without: what it does not answer in time is undefined; never rejects. */
export type PendingLink = {
  ask<T>(command: (client: Redis | Cluster) => Promise<T>, timeoutMs: number): Promise<T | undefined>;
  close(): void;
};

/** Traces that all pods of an API see, in Redis: one text a trace, a sorted set an account, an alias a hash. */
export type SharedTraces = {
  /** @param before the trace as it was foreseen before; of it only what is the same stays */
  put(trace: PendingTrace, before: PendingTrace | undefined): Promise<void>;
  drop(trace: PendingTrace): Promise<void>;
  /** Keys of an account's traces, oldest first. */
  keysOf(account: string): Promise<readonly string[]>;
  /** The key that another hash stands for. */
  keyBy(hash: string): Promise<string | undefined>;
  get(key: string): Promise<PendingTrace | undefined>;
};

/** A trace is written after its message is sent and read before an answer: neither waits for a Redis that is not well. */
const ANSWER_MS = 200;

/** Larger ones, of a hundred transactions with code in them, are seen on their own pod alone. */
const TRACE_BYTES_MAX = 1 << 20;

/** Traces of one account that are looked at. */
const ACCOUNT_TRACES_MAX = 100;

export type SharedTracesOptions = {
  /** Names the API and its network: several may share one Redis. */
  readonly scope: string;
  /** A trace is gone after this long. */
  readonly keptMs: number;
};

export function createSharedTraces({ scope, keptMs }: SharedTracesOptions, link: PendingLink): SharedTraces {
  const prefix = `ton:pending:${TRACE_FORM}:${scope}:`;
  const traceKey = (key: string): string => `${prefix}trace:${key}`;
  const aliasKey = (hash: string): string => `${prefix}alias:${hash}`;
  const accountKey = (account: string): string => `${prefix}account:${account}`;

  return {
    async put(trace, before) {
      const text = writeTrace(trace);
      if (text.length > TRACE_BYTES_MAX) return;
      const key = hex(trace.key);
      // The trace last: whoever finds its key finds the trace, or nothing.
      const asked = [
        ...trace.accounts.map((account) =>
          link.ask(async (client) => {
            await client.zadd(accountKey(account), String(trace.sentUnixMs), key);
            await client.zremrangebyrank(accountKey(account), 0, -ACCOUNT_TRACES_MAX - 1);
            return client.pexpire(accountKey(account), keptMs);
          }, ANSWER_MS),
        ),
        ...aliasesOf(trace).map((hash) =>
          link.ask((client) => client.set(aliasKey(hash), key, 'PX', keptMs), ANSWER_MS),
        ),
      ];
      await Promise.all(asked);
      await link.ask((client) => client.set(traceKey(key), text, 'PX', keptMs), ANSWER_MS);
      const lost = before?.accounts.filter((account) => !trace.accounts.includes(account)) ?? [];
      await Promise.all(lost.map((account) => link.ask((client) => client.zrem(accountKey(account), key), ANSWER_MS)));
    },
    async drop(trace) {
      const key = hex(trace.key);
      await link.ask((client) => client.del(traceKey(key)), ANSWER_MS);
      await Promise.all([
        ...aliasesOf(trace).map((hash) => link.ask((client) => client.del(aliasKey(hash)), ANSWER_MS)),
        ...trace.accounts.map((account) => link.ask((client) => client.zrem(accountKey(account), key), ANSWER_MS)),
      ]);
    },
    async keysOf(account) {
      return (
        (await link.ask(
          (client) => client.zrange(accountKey(account), '0', String(ACCOUNT_TRACES_MAX - 1)),
          ANSWER_MS,
        )) ?? []
      );
    },
    async keyBy(hash) {
      return (await link.ask((client) => client.get(aliasKey(hash)), ANSWER_MS)) ?? undefined;
    },
    async get(key) {
      const text = await link.ask((client) => client.get(traceKey(key)), ANSWER_MS);
      return text === undefined || text === null ? undefined : readTrace(text);
    },
  };
}

/** What a trace is found by beside its key. */
function aliasesOf({ messageHash, rootHash }: PendingTrace): string[] {
  return [hex(messageHash), hex(rootHash)];
}

function hex(hash: Buffer): string {
  return hash.toString('hex');
}
