import { anyKeyAt } from './conditions.ts';
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

/**
 * Which of the messages have been taken by a transaction, by hash in hex. A trace that is broken for good is never classified: what is there of it
 * is all that there will be.
 * @param messageHashes as the messages were sent, 32 bytes each
 */
export async function findTakenMessages(
  store: StoreReader,
  messageHashes: readonly Uint8Array[],
): Promise<ReadonlyMap<string, TakenMessage>> {
  if (messageHashes.length === 0) return new Map();
  const rows = await store.read<{
    readonly in_msg_hash: Buffer;
    readonly is_classified: boolean;
    readonly accounts: readonly Buffer[] | null;
  }>(
    `SELECT t.in_msg_hash,
            COALESCE(r.state = 2 OR (r.state = 0 AND c.trace_id IS NOT NULL), false) AS is_classified,
            CASE WHEN r.state = 1 THEN ARRAY(SELECT x.account FROM transactions x WHERE x.trace_id = t.trace_id ORDER BY x.lt LIMIT ${ACCOUNTS_MAX}) END AS accounts
       FROM transactions t
       LEFT JOIN traces r ON r.trace_id = t.trace_id
       LEFT JOIN trace_classifications c ON c.trace_id = t.trace_id
      WHERE t.in_msg_hash = ${anyKeyAt('$1')}`,
    [messageHashes],
    { statement: 'taken_messages' },
  );
  return new Map(
    rows.map((row) => [row.in_msg_hash.toString('hex'), { isClassified: row.is_classified, accounts: row.accounts }]),
  );
}
