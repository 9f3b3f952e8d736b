import { CellSlice } from '#service/decode/cell-slice.ts';
import { messageOfInMsg, readInMsg } from '#service/decode/tlb/in-msg.ts';
import { readMasterchainBlockDetails, readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import type { BlockReader } from './block-reader.ts';

/**
 * Hashes of the messages that a masterchain block itself sends, from the system address -1:00…00. They bring collected fees and new coins;
 * no transaction sent them. The address alone is no proof: on private networks a contract with ordinary messages has this address.
 */
export function systemMessages({ table, extra }: BlockReader): Buffer[] {
  if (extra.custom === undefined) return [];
  const { details } = readMasterchainBlockExtra(table, extra.custom);
  const { recoverCreateMsg, mintMsg } = readMasterchainBlockDetails(table, details);
  return [recoverCreateMsg, mintMsg]
    .filter((cell) => cell !== undefined)
    .map((cell) => table.hash(messageOfInMsg(table, readInMsg(new CellSlice(table, cell)))));
}
