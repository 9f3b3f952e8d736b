import type { StoreReader } from './reader.ts';

/** Of a trace that a message began: some transactions are there, or all of them and what they mean. */
export type TakenMessage = 'begun' | 'classified';

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
  const rows = await store.read<{ readonly in_msg_hash: Buffer; readonly is_classified: boolean }>(
    `SELECT t.in_msg_hash, COALESCE(r.state = 2 OR (r.state = 0 AND c.trace_id IS NOT NULL), false) AS is_classified
       FROM transactions t
       LEFT JOIN traces r ON r.trace_id = t.trace_id
       LEFT JOIN trace_classifications c ON c.trace_id = t.trace_id
      WHERE t.in_msg_hash = ANY($1::bytea[])`,
    [messageHashes],
  );
  return new Map(rows.map((row) => [row.in_msg_hash.toString('hex'), row.is_classified ? 'classified' : 'begun']));
}
