import { Address, beginCell, Cell, type Builder } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { mayTransfer, transferOf, type TransferRows } from '#service/interpreter/transfers.ts';
import type { StoredTransaction } from '#service/store/interpreted-rows.ts';
import type { JettonWalletRow, NftItemRow } from '#service/store/classification-tables.ts';
import { accountOf, eventTrace, open } from '#test/support/event-traces.ts';

const [owner, other, wallet] = [accountOf(1), accountOf(2), accountOf(3)];
const key = (number: number): Buffer => Buffer.from(`80${number.toString(16).padStart(64, '0')}`, 'hex');
const jettonWallet = { address: key(3), jetton: key(4) } as unknown as JettonWalletRow;
const nftItem = { address: key(3), index: 7n, collection: null } as unknown as NftItemRow;

/** What the contract's transaction gives when its owner sends it a body. */
function asked(body: Cell, known: { jettonWallet?: JettonWalletRow; nftItem?: NftItemRow }): TransferRows {
  const event = eventTrace(owner, [{ to: wallet, body }]).transactions[1]!;
  const stored = { hash: Buffer.alloc(32, 1), lt: event.lt, mc_seqno: 5 } as unknown as StoredTransaction;
  expect(mayTransfer(event)).toBe(true);
  return transferOf({ stored, event, returned: false, ...known });
}

const transfer = (to: Address | null = Address.parse(other)): Builder =>
  open(0x0f8a7ea5).storeCoins(5).storeAddress(to).storeAddress(null);
const cellOf = (boc: Uint8Array | null | undefined): Cell | undefined =>
  boc ? Cell.fromBoc(Buffer.from(boc))[0] : undefined;
const payload = beginCell().storeUint(9, 32).storeRef(beginCell().storeUint(1, 8).endCell()).endCell();
const exotic = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell({ exotic: true });

describe('a jetton transfer', () => {
  it.each([
    ['in a reference', (body: Builder) => body.storeBit(true).storeRef(payload), payload],
    ['in place', (body: Builder) => body.storeBit(false).storeSlice(payload.beginParse()), payload],
    ['that is empty', (body: Builder) => body.storeBit(false), undefined],
    ['that is left out', (body: Builder) => body, undefined],
    ['that is a library', (body: Builder) => body.storeBit(true).storeRef(exotic), exotic],
  ])('has its payload %s', (_what, end, expected) => {
    const body = end(transfer().storeBit(true).storeRef(exotic).storeCoins(3)).endCell();
    const { jettonTransfer, ...rest } = asked(body, { jettonWallet });
    expect(rest).toEqual({});
    expect(jettonTransfer).toMatchObject({
      source: key(1),
      destination: key(2),
      jetton_wallet: key(3),
      jetton_master: key(4),
      amount: 5n,
      response_destination: 'addr_none',
      forward_ton_amount: 3n,
      mc_seqno: 5,
    });
    expect(cellOf(jettonTransfer!.forward_payload)?.hash()).toEqual(expected?.hash());
    expect(cellOf(jettonTransfer!.custom_payload)?.hash()).toEqual(exotic.hash());
  });

  it('to nobody has no destination', () => {
    const body = transfer(null).storeBit(false).storeCoins(0).storeBit(false).endCell();
    expect(asked(body, { jettonWallet }).jettonTransfer).toMatchObject({ destination: null, custom_payload: null });
  });

  it.each([
    ['whose body ends too soon', transfer().endCell(), { jettonWallet }],
    ['of what is no wallet', transfer().storeBit(false).storeCoins(0).storeBit(false).endCell(), { nftItem }],
  ])('%s is none', (_what, body, known) => {
    expect(asked(body, known)).toEqual({});
  });
});

it('a burn has its owner, and its payload if there is one', () => {
  const body = open(0x595f07bc).storeCoins(8).storeAddress(Address.parse(owner));
  expect(asked(body.endCell(), { jettonWallet }).jettonBurn).toMatchObject({
    owner: key(1),
    amount: 8n,
    response_destination: owner,
    custom_payload: null,
  });
  const more = body.storeBit(true).storeRef(payload).endCell();
  expect(cellOf(asked(more, { jettonWallet }).jettonBurn?.custom_payload)?.hash()).toEqual(payload.hash());
});

it("an item's transfer has both owners, and the item's index", () => {
  const body = open(0x5fcc3d14)
    .storeAddress(Address.parse(other))
    .storeAddress(Address.parse(owner))
    .storeBit(false)
    .storeCoins(2)
    .storeBit(false)
    .storeUint(9, 32);
  const { nftTransfer } = asked(body.endCell(), { nftItem });
  expect(nftTransfer).toMatchObject({
    old_owner: key(1),
    new_owner: key(2),
    nft_item: key(3),
    nft_index: 7n,
    nft_collection: null,
    forward_amount: 2n,
  });
  expect(cellOf(nftTransfer?.forward_payload)?.bits.length).toBe(32);
});
