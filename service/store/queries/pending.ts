import { keyAt, keysAt } from './conditions.ts';
import { ltsOfTimes } from './lt-windows.ts';
import { taken } from './messages.ts';
import type { StoreReader } from './reader.ts';

/** What there is of a trace that a message began. */
export type TakenMessage = {
  /** All of its transactions, and what they mean. */
  readonly isClassified: boolean;
  /** Whose transactions there are, one entry each; null when no more of them will come. */
  readonly accounts: readonly Buffer[] | null;
};

/** More transactions than any trace is foreseen to have. */
const ACCOUNTS_MAX = 1000;

/** A message from outside. */
export type SentMessageKey = {
  /** Its normalised hash, 32 bytes. */
  readonly key: Uint8Array;
  /** Blocks of before, in Unix seconds, have not taken it: a contract may take the same message again and again. */
  readonly sinceUtime: number;
};

/** A message by one of its hashes. */
const foundBy = (hash: 'hash' | 'hash_norm'): string =>
  `SELECT hash, lt, created_lt FROM messages WHERE ${hash} = s.key AND lt >= ${keyAt('$3', 'bigint')}`;

/**
 * Which of the messages have been taken by a transaction, by key in hex; of several transactions the newest counts. A trace that is broken for good is
 * never classified: what is there of it is all that there will be.
 */
export async function findTakenMessages(
  store: StoreReader,
  sent: readonly SentMessageKey[],
): Promise<ReadonlyMap<string, TakenMessage>> {
  if (sent.length === 0) return new Map();
  // What was sent lately is in the newest partitions: the others are not looked into.
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
       JOIN transactions t ON ${taken} AND t.utime >= s.since
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
