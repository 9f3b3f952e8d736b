import { beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { accountOf, bareBody, type Step } from '#test/support/event-traces.ts';
import { buyer, contract, item, itemActions, items, stateOf } from '#test/support/nft-traces.ts';

const before = accountOf(8);
const outbid: Step = { to: before, body: commentBody('Your bid has been outbid by another user. Getgems'), value: 90n };
const notice: Step = { to: before, body: bareBody(0x557cea20), value: 90n };
const empty = beginCell().endCell();
const bid = (to: string, sends: readonly Step[], body: Cell = empty): Step => ({ to, body, value: 100n, sends });

const fragment = { nft: { content: { uri: 'https://nft.fragment.com/number/1.json' } } };
const dotTon = { nft: { codeHash: 'i1/8nr/TkGTY1fVuRlnIJrt1k5I/XKSHKL5NYK9vUfk=' } };
const getgems = { auction: {} };

describe('a bid', () => {
  it.each([
    ['at Getgems', getgems, contract, [], 'getgems'],
    ['at Fragment', fragment, item, [], 'fragment'],
    ['for a name, which returns the bid before', dotTon, item, [notice], 'fragment'],
  ])('%s names what it is for', (_where, known, to, sends, kind) => {
    const [action] = itemActions(buyer, [bid(to, sends)], known);
    expect(action).toMatchObject({ type: 'auction_bid', source: buyer, destination: to, value: 100n, success: true });
    expect(action).toMatchObject({ asset: items, assetSecondary: item });
    expect(action?.accounts).toContain(item);
    expect(action?.data['nft_transfer_data']).toMatchObject({ nft_item_index: 7n, marketplace: kind });
  });

  it.each([
    ['an order to end the auction', getgems, bid(contract, [], commentBody('cancel'))],
    ['what deploys the auction', getgems, { ...bid(contract, []), init: stateOf(empty) }],
    ['what fills up a name', dotTon, bid(item, [])],
    ['a payment to another item', { nft: {} }, bid(item, [])],
    ['a call', getgems, bid(contract, [], bareBody(5))],
  ])('is not %s', (_what, known, step) => {
    expect(itemActions(buyer, [step], known)).toEqual([]);
  });
});

describe('the bid before', () => {
  it.each([
    ['Getgems', getgems, contract, outbid, 'getgems', 'Your bid has been outbid by another user. Getgems'],
    ['Fragment', fragment, item, notice, 'fragment', null],
    ['a name', dotTon, item, notice, 'fragment', null],
  ])('is returned by %s', (_where, known, auction, step, marketplace, content) => {
    const actions = itemActions(buyer, [bid(auction, [step])], known);
    expect(actions.map(({ type }) => type)).toEqual(['auction_bid', 'auction_outbid']);
    const action = actions[1];
    expect(action).toMatchObject({ source: auction, sourceSecondary: buyer, destination: before, amount: 90n });
    expect(action).toMatchObject({ asset: items, assetSecondary: item, value: null, parentActionId: null });
    expect(action?.accounts).toContain(item);
    expect(action?.data['nft_transfer_data']).toMatchObject({ marketplace, nft_item_index: null });
    expect(action?.data['ton_transfer_data']).toEqual({ content, encrypted: null });
  });

  it.each([
    ['two payments say so', [outbid, outbid]],
    ['nothing says so', [{ ...outbid, body: commentBody('Thank you') }]],
    ['it is said as elsewhere', [notice]],
  ])('is not known when %s', (_what, sends) => {
    const types = itemActions(buyer, [bid(contract, sends)], getgems).map(({ type }) => type);
    expect(types).toEqual(['auction_bid']);
  });
});
