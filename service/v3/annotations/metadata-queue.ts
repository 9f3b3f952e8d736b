import type { Logger } from 'pino';

import { hashKey } from '#service/store/hash-key.ts';
import type { Store } from '#service/store/store.ts';
import type { TokenName } from '#service/store/token-content.ts';

/** Requests metadata of tokens that answers lacked, independent of the answers. */
export type MetadataQueue = {
  /** Queues tokens for the fetchers. Never throws, never waits. Excess tokens are queued with a later answer. */
  want(tokens: readonly TokenName[]): void;
  /** Writes pending tokens, and ends. */
  close(): Promise<void>;
};

export type MetadataQueueDependencies = {
  readonly store: Pick<Store, 'transaction'>;
  readonly logger: Logger;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
};

/** Tokens in this process before the next write, some 100 bytes each: a few large answers. */
const WAITING_MAX = 10_000;

/** Tasks of all processes: more than an hour's work at a thousand fetches a minute. Further tokens are requested again later. */
export const TASKS_MAX = 100_000;

/** Milliseconds between two writes, so that the cost does not depend on the load. */
const PAUSE_MS = 1000;

/** Milliseconds before a token is queued again, and number of tokens with this limit. */
const ASKED_MS = 60_000;
const ASKED_MAX = 50_000;

/** The tasks are counted as far as they may be, and no further. */
const insertSql = `INSERT INTO metadata_tasks (address, type)
  SELECT given.address, given.type FROM unnest($1::bytea[], $2::text[]) AS given (address, type)
  WHERE (SELECT count(*) FROM (SELECT FROM metadata_tasks LIMIT ${TASKS_MAX}) counted) < ${TASKS_MAX}
  ORDER BY given.address, given.type ON CONFLICT DO NOTHING`;

export function createMetadataQueue({ store, logger, clock }: MetadataQueueDependencies): MetadataQueue {
  const waiting = new Map<string, TokenName>();
  const asked = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let restsUntilMs = 0;
  let closed = false;

  async function write(): Promise<void> {
    const tokens = [...waiting.values()];
    waiting.clear();
    if (tokens.length === 0) return;
    const columns = [tokens.map(({ address }) => address), tokens.map(({ type }) => type)];
    try {
      await store.transaction(({ query }) => query(insertSql, columns));
    } catch (error) {
      // The next answer with these tokens requests them again.
      for (const token of tokens) asked.delete(keyOf(token));
      logger.warn({ err: error, tokens: tokens.length }, 'tokens were not queued for their metadata');
    }
  }

  async function turn(): Promise<void> {
    await write();
    restsUntilMs = clock() + PAUSE_MS;
    timer = undefined;
    if (!closed) schedule();
  }

  function schedule(): void {
    if (timer !== undefined || waiting.size === 0) return;
    const delayMs = Math.max(0, restsUntilMs - clock());
    timer = setTimeout(() => void (writing = turn()), delayMs).unref();
  }

  function isAsked(key: string, nowMs: number): boolean {
    const atMs = asked.get(key);
    return atMs !== undefined && nowMs - atMs < ASKED_MS;
  }

  return {
    want(tokens) {
      if (closed) return;
      const nowMs = clock();
      for (const token of tokens) {
        const key = keyOf(token);
        if (waiting.size >= WAITING_MAX || isAsked(key, nowMs)) continue;
        waiting.set(key, token);
        // Moves the key to the newest position.
        asked.delete(key);
        asked.set(key, nowMs);
        if (asked.size > ASKED_MAX) asked.delete(asked.keys().next().value ?? '');
      }
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
}

function keyOf({ address, type }: TokenName): string {
  return `${type} ${hashKey(address)}`;
}
