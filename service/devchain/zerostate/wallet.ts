import { BitWriter } from '#service/decode/bit-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { WALLET_V4R2_CODE } from './contracts.ts';
import type { GenesisAccount } from './zerostate.ts';

/** Distinguishes basechain wallets with the same key. */
export const WALLET_ID = 698_983_191;

/** A wallet v4r2 that is there from the start and belongs to a key. */
export function genesisWallet(publicKey: Buffer, balance: bigint): GenesisAccount {
  const store = createCellStore();
  const boc = parseBoc(Buffer.from(WALLET_V4R2_CODE, 'base64'));
  const code = store.import(boc, boc.roots[0]!);
  const data = new BitWriter().uint(0, 32).uint(WALLET_ID, 32).bytes(publicKey).bit(false).finish(store);
  // `StateInit` of code and data alone. Its hash is the account's id.
  const init = new BitWriter().uint(0b00, 2).maybeRef(code).maybeRef(data).bit(false).finish(store);
  return { id: store.hash(init), balance, store, code, data };
}
