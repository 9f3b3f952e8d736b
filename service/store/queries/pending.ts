import { keyAt, keysAt } from './conditions.ts';
import { ltsOfTimes } from './lt-windows.ts';
import { taken } from './messages.ts';
import type { StoreReader } from './reader.ts';
import { unsignedTime } from './times.ts';

/** Indexed part of a trace that a message began. */
export type TakenMessage = {
  /** True if the trace is complete and its actions are stored. */
  readonly isClassified: boolean;
  /** Accounts of the stored transactions, an entry per transaction; null when no more transactions will come. */
  readonly accounts: readonly Buffer[] | null;
};

/** More transactions than any simulated trace has. */
const ACCOUNTS_MAX = 1000;

/** A message from outside. */
export type SentMessageKey = {
  /** Its normalised hash, 32 bytes. */
  readonly key: Uint8Array;
  /** Unix seconds; earlier blocks do not count. A contract may receive the same message again and again. */
  readonly sinceUtime: number;
};

/** Finds a message by one of its hashes. */
const foundBy = (hash: 'hash' | 'hash_norm'): string =>
  `SELECT hash, lt, created_lt FROM messages WHERE ${hash} = s.key AND lt >= ${keyAt('$3', 'bigint')}`;

/**
 * Messages that a transaction has received, by key in hex; of several transactions the newest counts. A trace that is broken for good is
 * never classified: its stored part is final.
 */
export async function findTakenMessages(
  store: StoreReader,
  sent: readonly SentMessageKey[],
): Promise<ReadonlyMap<string, TakenMessage>> {
  if (sent.length === 0) return new Map();
  // Recent messages are in the newest partitions: other partitions are skipped.
  const { from } = await ltsOfTimes(store, { startUtime: Math.min(...sent.map(({ sinceUtime }) => sinceUtime)) });
  const rows = await store.read<{
    readonly key: Buffer;
    readonly is_classified: boolean;
    readonly accounts: readonly Buffer[] | null;
  }>(
    `SELECT DISTINCT ON (s.key) s.key,
            COALESCE(r.state = 2 OR (r.state = 0 AND c.trace_id IS NOT NULL), false) AS is_classified,
            CASE WHEN r.state = 1 THEN ARRAY(SELECT x.account FROM transactions x WHERE x.trace_id = t.trace_id ORDER BY x.lt LIMIT ${ACCOUNTS_MAX}) END AS accounts
       FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS s (key, since)
       CROSS JOIN LATERAL (${foundBy('hash')} UNION ${foundBy('hash_norm')}) m
       JOIN transactions t ON ${taken} AND ${unsignedTime('t.utime')} >= s.since
       LEFT JOIN traces r ON r.trace_id = t.trace_id
       LEFT JOIN trace_classifications c ON c.trace_id = t.trace_id
      ORDER BY s.key, t.lt DESC`,
    [sent.map(({ key }) => key), sent.map(({ sinceUtime }) => sinceUtime), from],
    { statement: 'taken_messages' },
  );
  return new Map(
    rows.map((row) => [row.key.toString('hex'), { isClassified: row.is_classified, accounts: row.accounts }]),
  );
}
