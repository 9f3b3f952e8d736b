import { Address, beginCell, type Builder, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { bareBody, type Step } from '#test/support/event-traces.ts';
import {
  buyer,
  contract,
  item,
  itemActions,
  items,
  itemTransfer,
  market,
  operation,
  owner,
  stateOf,
} from '#test/support/nft-traces.ts';

const [marketAddress, ownerAddress, itemAddress] = [market, owner, item].map((one) => Address.parse(one));

/** The owner gives the item to the market, which deploys what sells it and passes the item on. */
function putUp(data: Cell, passedTo = contract): Step {
  const deploy: Step = { to: contract, body: bareBody(1), init: stateOf(data) };
  return itemTransfer(market, [deploy, itemTransfer(passedTo)]);
}

const start = (): Builder => beginCell();
const parties = (builder: Builder): Builder =>
  builder.storeAddress(marketAddress).storeAddress(itemAddress).storeAddress(ownerAddress).storeCoins(1000);

const saleV1 = parties(start())
  .storeRef(start().storeCoins(11).storeAddress(marketAddress).storeAddress(ownerAddress).storeCoins(12).endCell())
  .endCell();
const saleV2 = parties(start().storeBit(false).storeUint(1, 32))
  .storeRef(start().storeAddress(marketAddress).storeCoins(11).storeAddress(ownerAddress).storeCoins(12).endCell())
  .endCell();
const saleV4 = start()
  .storeBit(false)
  .storeAddress(marketAddress)
  .storeAddress(ownerAddress)
  .storeCoins(1000)
  .storeUint(0, 32)
  .storeUint(0, 64)
  .storeRef(
    start().storeAddress(marketAddress).storeAddress(ownerAddress).storeUint(5000, 17).storeUint(0, 17).endCell(),
  )
  .endCell();

const marketplace = { marketplace_address: market };
const sold = { full_price: 1000n, marketplace_fee_address: market, royalty_address: owner, max_bid: null };
const amounts = { ...sold, marketplace_fee: 11n, royalty_amount: 12n };

describe('an item put on sale', () => {
  it.each([
    ['1', '2pufziLofEllctIDZSWVebzO+RpyA1fMvowFLvyb4I8=', saleV1, amounts],
    ['2', 'gnj0xSM95vvtyWmvUZNEp6m//FRIVtuphqlcC8+Fcck=', saleV2, amounts],
    ['3', 'JCIfpXHlQuBVx3vt/b9SfHr0YM/cfzRMRQeHtM+h600=', saleV2, amounts],
    ['4', 'a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=', saleV4, { ...sold, marketplace_fee: null }],
    ['4, whose code is not known,', null, saleV4, { ...sold, royalty_amount: null }],
  ])('has the terms of the contract: version %s', (_version, codeHash, data, terms) => {
    const actions = itemActions(owner, [putUp(data)], { sale: { codeHash } });
    const [action, ...within] = actions;
    expect(action).toMatchObject({ type: 'nft_put_on_sale', source: owner, sourceSecondary: market, success: true });
    expect(action).toMatchObject({ destination: contract, destinationSecondary: null });
    expect(action?.data['nft_transfer_data']).toMatchObject(marketplace);
    expect(action).toMatchObject({ asset: items, assetSecondary: item });
    expect(action?.data['nft_listing_data']).toMatchObject({ ...terms, nft_item_index: 7n, marketplace: 'getgems' });
    expect(within).toMatchObject([{ type: 'nft_transfer' }, { type: 'nft_transfer' }]);
    expect(within.map(({ parentActionId }) => parentActionId)).toEqual([action?.actionId, action?.actionId]);
  });

  it.each([
    ['passed on to another account', putUp(saleV4, buyer), {}],
    ["another item's contract got it", putUp(saleV4), { nft: market }],
    ['it is sold for somebody else', putUp(saleV4), { nftOwner: buyer }],
    ['the contract cannot be read', putUp(beginCell().endCell()), {}],
  ])('is only transferred when %s', (_what, step, sale) => {
    const types = itemActions(owner, [step], { sale }).map(({ type }) => type);
    expect(types).toEqual(['nft_transfer', 'nft_transfer']);
  });
});

const shares = (builder: Builder): Builder =>
  builder.storeUint(5, 32).storeUint(100, 32).storeUint(10, 32).storeUint(1000, 32);
const paired = start()
  .storeAddress(marketAddress)
  .storeUint(5, 32)
  .storeUint(100, 32)
  .storeAddress(ownerAddress)
  .storeUint(10, 32)
  .storeUint(1000, 32)
  .endCell();
const receivers = start().storeAddress(marketAddress).storeAddress(ownerAddress);
const bids = (builder: Builder): Cell => builder.storeCoins(20).storeCoins(200).endCell();
const lastBid = (flags: number): Builder =>
  start().storeUint(0, flags).storeAddress(null).storeCoins(0).storeUint(0, 32).storeUint(1, 32);
const withOwner = lastBid(2).storeAddress(ownerAddress).storeUint(0, 64);
const marketBids = bids(start().storeAddress(marketAddress));

const auctionV1 = start().storeRef(paired).storeRef(bids(start())).endCell();
const auctionV2 = lastBid(3)
  .storeRef(paired)
  .storeRef(bids(start().storeUint(1, 32).storeAddress(marketAddress)))
  .endCell();
const auctionV3 = shares(start().storeBuilder(withOwner)).storeRef(receivers.endCell()).storeRef(marketBids).endCell();
const auctionV4 = start()
  .storeBuilder(withOwner)
  .storeRef(shares(start().storeBuilder(receivers)).endCell())
  .storeRef(marketBids)
  .endCell();

describe('an item put up for auction', () => {
  it.each([
    ['1', '/ACindAgW83MDT/7nKOMw8jBWexg2KpUMkCpLxBZLUA=', auctionV1],
    ['2', 'ZmiHL6eXBUQ//UdSPo6eqfdquZ+aC1nSfej4GhwnudQ=', auctionV2],
    ['3, revision 2', 'G9nFo5v/t6DzQViLXdkrgTqEK/Ze8UEJOCIAzq+Pct8=', auctionV2],
    ['3, revision 3', 'u29ireD+stefqzuK6/CTCvmFU99gCTsgJ/Covxab/Ow=', auctionV3],
    ['4', 'zlp4U06qps7tja/UhtB262CpsNbb+1Nnb2YmScBomVY=', auctionV4],
    ['3, whose code is not known', null, auctionV3],
  ])('has the terms of the contract: version %s', (_version, codeHash, data) => {
    const [action] = itemActions(owner, [putUp(data)], { auction: { codeHash } });
    expect(action).toMatchObject({ type: 'nft_put_on_auction', source: owner, destination: contract });
    expect(action).toMatchObject({ sourceSecondary: market, destinationSecondary: null });
    expect(action?.data['nft_transfer_data']).toMatchObject(marketplace);
    expect(action?.data['nft_listing_data']).toMatchObject({
      mp_fee_factor: 5n,
      mp_fee_base: 100n,
      marketplace_fee_address: market,
      royalty_fee_base: 1000n,
      royalty_address: owner,
      min_bid: 20n,
      max_bid: 200n,
      full_price: null,
    });
  });
});

describe('a sale', () => {
  const body = operation(0x6c6c2080).storeCoins(2000).storeCoins(21).storeCoins(22).endCell();

  it('gets another price', () => {
    const [action] = itemActions(owner, [{ to: contract, body }], { sale: {} });
    expect(action).toMatchObject({ type: 'nft_update_sale', source: owner, destination: contract, success: true });
    expect(action).toMatchObject({ assetSecondary: item, accounts: expect.arrayContaining([item]) as unknown });
    expect(action?.data['nft_transfer_data']).toMatchObject(marketplace);
    expect(action?.data['nft_listing_data']).toMatchObject({
      full_price: 2000n,
      marketplace_fee: 21n,
      royalty_amount: 22n,
    });
  });

  it('may refuse it', () => {
    expect(itemActions(owner, [{ to: contract, body, aborted: true }], { sale: {} })).toMatchObject([
      { success: false },
    ]);
    expect(itemActions(owner, [{ to: contract, body }], {})).toEqual([]);
  });
});

const purchaseIn = (steps: readonly Step[]) =>
  itemActions(buyer, steps, { sale: {} }).find(({ type }) => type === 'nft_purchase')?.data['nft_transfer_data'];

describe('a purchase', () => {
  const payout: Step = { to: owner, body: commentBody('Profit'), value: 9n };
  const bought: Step = { to: contract, body: commentBody(''), sends: [payout, itemTransfer(buyer)] };
  it('tells what the seller got of the price', () => {
    expect(purchaseIn([bought])).toMatchObject({ price: 10n, real_prev_owner: owner, payout_amount: 9n });
  });

  it('is not paid for by what the buyer sends the seller besides', () => {
    const gift: Step = { to: owner, body: commentBody('hello'), value: 5n };
    expect(purchaseIn([gift, bought])).toMatchObject({ payout_amount: 9n, payout_comment: 'Profit' });
    expect(purchaseIn([gift, { ...bought, sends: [itemTransfer(buyer)] }])).toBeUndefined();
  });

  it('is not paid for by a call', () => {
    expect(purchaseIn([{ ...bought, body: bareBody(0x123) }])).toBeUndefined();
  });
});

const order = (body: Cell, to: string): Step => ({ to: contract, body, sends: [itemTransfer(to)] });

describe('an order about an item', () => {
  it.each([
    ['nft_cancel_sale', 'an operation', bareBody(3), { sale: {} }],
    ['nft_cancel_auction', 'a comment', commentBody('cancel'), { auction: {} }],
    ['nft_cancel_auction', 'an operation', bareBody(0x5616c572), { auction: {} }],
    ['nft_finish_auction', 'a comment', commentBody('stop'), { auction: {} }],
    ['nft_finish_auction', 'an operation', bareBody(0x20c9eb18), { auction: {} }],
  ])('is %s, as %s, when the item goes back', (type, _as, body, known) => {
    const actions = itemActions(owner, [order(body, owner)], known);
    expect(actions.map((one) => one.type)).toEqual([type, 'nft_transfer']);
    expect(actions[0]).toMatchObject({ source: owner, destination: contract, asset: items, assetSecondary: item });
    expect(actions[0]?.accounts).toContain(item);
    expect(actions[0]?.data['nft_transfer_data']).toMatchObject(marketplace);
    expect(actions[1]).toMatchObject({ parentActionId: null, ancestorTypes: [] });
  });

  it('ends an auction beside the purchase', () => {
    const payout: Step = { to: owner, body: commentBody('Profit'), value: 9n };
    const { sends = [], ...finish } = order(commentBody('finish'), buyer);
    const actions = itemActions(market, [{ ...finish, sends: [payout, ...sends] }], { auction: {} });
    const [finished, purchase, transfer] = actions;
    expect(finished).toMatchObject({ type: 'nft_finish_auction', source: buyer, destination: contract });
    expect(finished?.data['nft_transfer_data']).toMatchObject({ marketplace_address: null });
    expect(purchase).toMatchObject({ type: 'nft_purchase', destination: buyer, parentActionId: null });
    // The order to end the auction sent the item and the payout, and is no part of the purchase.
    expect(finished?.transactions).toHaveLength(2);
    expect(purchase?.transactions).toHaveLength(3);
    expect(purchase?.transactions).not.toContain(finished?.transactions.at(-1));
    expect(transfer).toMatchObject({ type: 'nft_transfer', parentActionId: purchase?.actionId });
    expect(transfer?.ancestorTypes).toEqual(['nft_purchase']);
  });

  it('says nothing of what is not for sale there', () => {
    const actions = itemActions(owner, [order(bareBody(3), owner)], { sale: { nft: market } });
    expect(actions.map(({ type }) => type)).toEqual(['nft_transfer']);
  });
});
