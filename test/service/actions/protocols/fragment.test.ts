import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { bareBody, type Step } from '#test/support/event-traces.ts';
import { buyer, item, itemActions, items, market, operation, owner } from '#test/support/nft-traces.ts';

const userName = { nft: { content: { uri: 'https://nft.fragment.com/username/tonplane.json' } } };
const ok: Step = { to: owner, body: bareBody(0xa37a0983) };
const config = beginCell()
  .storeAddress(Address.parse(owner))
  .storeCoins(5)
  .storeCoins(50)
  .storeUint(5, 8)
  .storeUint(3600, 32)
  .storeUint(86400, 32)
  .endCell();
const start = (terms: Cell): Step => ({
  to: item,
  body: operation(0x487a8e81).storeRef(terms).endCell(),
  sends: [ok],
});
const cancel: Step = { to: item, body: bareBody(0x371638ae), sends: [ok] };

describe('an auction of a user name', () => {
  it('starts with the terms that its owner names', () => {
    const [action] = itemActions(owner, [start(config)], userName);
    expect(action).toMatchObject({ type: 'teleitem_start_auction', source: owner, destination: item, success: true });
    expect(action).toMatchObject({ asset: items, assetSecondary: item, sourceSecondary: null });
    expect(action?.data['nft_listing_data']).toMatchObject({
      nft_item_index: 7n,
      min_bid: 5n,
      max_bid: 50n,
      mp_fee_factor: 0n,
      marketplace_fee_address: owner,
      marketplace: 'fragment',
    });
    expect(action?.transactions).toHaveLength(3);
  });

  it('has no terms when they cannot be read', () => {
    const [action] = itemActions(owner, [start(beginCell().endCell())], userName);
    expect(action?.data['nft_listing_data']).toMatchObject({ min_bid: 0n, max_bid: 0n, marketplace_fee_address: null });
  });

  it('is canceled', () => {
    const [action] = itemActions(owner, [cancel], userName);
    expect(action).toMatchObject({ type: 'teleitem_cancel_auction', source: owner, destination: item, success: true });
  });

  it.each([
    ['start', start(config)],
    ['cancel', cancel],
  ])('may fail to %s', (_what, step) => {
    const refused = { ...step, aborted: true, sends: [] };
    expect(itemActions(owner, [refused], userName)).toMatchObject([{ success: false }]);
  });

  it.each([
    ['start', start(config)],
    ['cancel', cancel],
  ])('is not what a %s at another item means', (_what, step) => {
    expect(itemActions(owner, [step], { nft: { content: { uri: 'https://example.com/1.json' } } })).toEqual([]);
  });
});

const bid = beginCell().storeUint(0x38127de1, 32).storeCoins(70).storeUint(0, 32).endCell();
const assigned = operation(0x05138d91).storeAddress(Address.parse(owner)).storeBit(true).storeRef(bid).endCell();
const payout = (to: string, value: bigint): Step => ({ to, body: bareBody(0x370fec51), value });
const given: Step = { to: buyer, body: assigned };

describe('an item that tells who has it now', () => {
  it('was bought with what its payment paid out', () => {
    const paid: Step = { to: item, body: commentBody(''), sends: [payout(market, 3n), payout(owner, 60n), given] };
    const [action] = itemActions(buyer, [paid], userName);
    expect(action).toMatchObject({ type: 'nft_transfer', source: owner, destination: buyer });
    expect(action?.data['nft_transfer_data']).toMatchObject({
      is_purchase: true,
      price: 70n,
      marketplace: 'fragment',
      payout_amount: 60n,
      royalty_amount: 3n,
    });
    expect(action?.data['nft_listing_data']).toMatchObject({ marketplace_fee_address: owner, royalty_address: market });
    expect(action?.transactions).toHaveLength(5);
  });

  it('was bought, whatever another call paid out', () => {
    const called: Step = { to: item, body: bareBody(0x123), sends: [payout(owner, 60n), given] };
    const [action] = itemActions(buyer, [called], userName);
    expect(action?.data['nft_transfer_data']).toMatchObject({ is_purchase: true, price: 70n, payout_amount: null });
    expect(action?.transactions).toHaveLength(2);
  });

  it('was minted for a bid', () => {
    const minted: Step = { to: item, body: bareBody(0x299a3e15), sends: [given] };
    const action = itemActions(buyer, [minted], userName).find(({ type }) => type === 'nft_transfer');
    expect(action?.data['nft_transfer_data']).toMatchObject({
      is_purchase: false,
      price: null,
      marketplace: 'fragment',
    });
  });

  it.each([
    ['nothing', operation(0x05138d91).storeAddress(Address.parse(owner)).endCell()],
    [
      'a bid without an amount',
      operation(0x05138d91).storeAddress(Address.parse(owner)).storeBit(false).storeUint(0x38127de1, 32).endCell(),
    ],
  ])('tells of no payload when it brings %s', (_what, body) => {
    const called: Step = { to: item, body: bareBody(0x123), sends: [{ to: buyer, body }] };
    const [action] = itemActions(buyer, [called], userName);
    expect(action).toMatchObject({ type: 'nft_transfer', source: owner, destination: buyer });
    expect(action?.data['nft_transfer_data']).toMatchObject({
      is_purchase: false,
      marketplace: null,
      forward_payload: null,
    });
  });
});
