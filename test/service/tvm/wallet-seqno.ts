import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';

/**
 * Returns a wallet's account some messages later, as a bag of cells. Its data start with the seqno, in version 5 behind one bit. Undefined when the
 * account is no such wallet.
 */
export function walletLater(
  { states }: Chain,
  cell: number,
  { state }: Account,
  seqno: number,
  messages: number,
): Buffer | undefined {
  const data = state.kind === 'active' ? state.init.data : undefined;
  if (data === undefined) return undefined;
  const offset = [0, 1].find((bits) => {
    const slice = new CellSlice(states, data);
    slice.skip(bits);
    return slice.remainingBits >= 32 && slice.uint(32) === seqno;
  });
  if (offset === undefined) return undefined;
  const store = createCellStore();
  const start = states.dataOffset(data) * 8;
  const writer = new BitWriter().copy(states.bytes, start, offset).int(seqno + messages, 32);
  writer.copy(states.bytes, start + offset + 32, states.bitLength(data) - offset - 32);
  for (let at = 0; at < states.refCount(data); at++) writer.ref(store.import(states, states.ref(data, at)));
  const laterData = writer.finish(store);
  const refs = Array.from({ length: states.refCount(cell) }, (_, at) => {
    const ref = states.ref(cell, at);
    return ref === data ? laterData : store.import(states, ref);
  });
  return writeBoc(store, [store.addLike(states, cell, refs)]);
}
