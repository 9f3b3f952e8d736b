import type { StoreReader } from './reader.ts';

/** Which of the messages have been taken by a transaction, by hash in hex. @param messageHashes as the messages were sent, 32 bytes each */
export async function findTakenMessages(
  store: StoreReader,
  messageHashes: readonly Uint8Array[],
): Promise<ReadonlySet<string>> {
  if (messageHashes.length === 0) return new Set();
  const rows = await store.read<{ readonly in_msg_hash: Buffer }>(
    'SELECT t.in_msg_hash FROM transactions t WHERE t.in_msg_hash = ANY($1::bytea[])',
    [messageHashes],
  );
  return new Set(rows.map((row) => row.in_msg_hash.toString('hex')));
}
