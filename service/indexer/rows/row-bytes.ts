import type { BlockRows } from '#service/store/tables.ts';

/** Bytes of a row without its bag of cells. */
const BYTES_OF = { block: 512, transaction: 256, message: 256, state: 192, latestState: 384 } as const;

/**
 * Bytes of rows on their way, somewhat more than the usual size. A block's file has each cell once. Each row has a bag of cells of its own,
 * so the rows can be many times larger than the file.
 */
export function bytesOfRows(rows: BlockRows): number {
  const { blocks, transactions, messages, accountStates, latestAccountStates, codes } = rows;
  let bytes =
    BYTES_OF.block * blocks.length +
    BYTES_OF.transaction * transactions.length +
    BYTES_OF.message * messages.length +
    BYTES_OF.state * accountStates.length +
    BYTES_OF.latestState * latestAccountStates.length;
  for (const { boc } of transactions) bytes += boc.length;
  for (const { data_boc: data } of latestAccountStates) bytes += data?.length ?? 0;
  for (const { boc } of codes) bytes += boc.length;
  return bytes;
}
