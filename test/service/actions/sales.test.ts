import { Address, beginCell, Cell, contractAddress, storeStateInit } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { startScriptedNetwork, type ScriptedNetwork } from '#test/support/scripted-network.ts';
import { accountOf, accounts, open, type Step } from '#test/support/event-traces.ts';
import { silentCode, type Methods } from '#test/support/scripted-contract.ts';

// Sales and auctions of a real item, by contracts that stand in for those of Getgems and say of themselves what those say.

let network: ScriptedNetwork;

beforeAll(async () => {
  network = await startScriptedNetwork();
});
afterAll(() => network.close());

const TON = 1_000_000_000n;
const raw = (name: string): string => network.address(name).toRawString().toUpperCase();
const at = (text: string): Address => Address.parse(text);
const typesOf = (actions: readonly Action[]): string[] => actions.map(({ type }) => type).toSorted();
const one = (actions: readonly Action[], type: string): Action => {
  const found = actions.filter((action) => action.type === type);
  expect(found).toHaveLength(1);
  return found[0]!;
};

const [market, feeTaker, royaltyTaker] = accounts(3);
const PRICE = 7n * TON;

/** An order to the item to go to somebody; it tells the new owner when there is something to forward. */
const order = (to: string, forward = 0n): Cell =>
  open(0x5fcc3d14)
    .storeAddress(at(to))
    .storeAddress(at(to))
    .storeBit(false)
    .storeCoins(forward)
    .storeBit(false)
    .endCell();

const giveItem = (item: string, to: string, forward = 0n): Step => ({
  to: item,
  body: order(to, forward),
  value: TON / 2n,
});

const saleMethods = (item: string, owner: string): Methods => ({
  get_fix_price_data_v4: {
    gives: [
      0n,
      1_700_000_000n,
      at(market),
      at(item),
      at(owner),
      PRICE,
      at(feeTaker),
      5000n,
      at(royaltyTaker),
      3000n,
      0n,
      0n,
      beginCell().endCell(),
    ],
  },
});

const auctionMethods = (item: string, owner: string, lastBid: bigint): Methods => ({
  get_sale_data: {
    gives: [
      0x415543n,
      0n,
      1_900_000_000n,
      at(market),
      at(item),
      at(owner),
      lastBid,
      null,
      10n,
      at(feeTaker),
      5n,
      100n,
      at(royaltyTaker),
      7n,
      100n,
      100n * TON,
      TON,
      1_700_000_000n,
      0n,
      0n,
    ],
  },
});

/** The data of a sale of the fourth version (message layouts, `get_sale_data`). */
const saleTerms = (owner: string): Cell =>
  beginCell()
    .storeBit(false)
    .storeAddress(at(market))
    .storeAddress(at(owner))
    .storeCoins(PRICE)
    .storeUint(0, 32)
    .storeUint(0, 64)
    .storeRef(
      beginCell().storeAddress(at(feeTaker)).storeAddress(at(royaltyTaker)).storeUint(5000, 17).storeUint(3000, 17),
    )
    .endCell();

/** The data of an auction of the third version (message layouts, `parse_auction_v3r3`). */
const auctionTerms = (owner: string): Cell =>
  beginCell()
    .storeBit(false)
    .storeBit(false)
    .storeAddress(null)
    .storeCoins(0)
    .storeUint(0, 32)
    .storeUint(1_900_000_000, 32)
    .storeAddress(at(owner))
    .storeUint(0, 64)
    .storeUint(5, 32)
    .storeUint(100, 32)
    .storeUint(7, 32)
    .storeUint(100, 32)
    .storeRef(beginCell().storeAddress(at(feeTaker)).storeAddress(at(royaltyTaker)))
    .storeRef(
      beginCell()
        .storeAddress(at(market))
        .storeCoins(TON)
        .storeCoins(100n * TON)
        .storeCoins(10)
        .storeUint(60, 32),
    )
    .endCell();

/** A contract that is deployed with terms; its methods know the item and its seller. */
function listingOf(methods: Methods, data: Cell): { readonly account: string; readonly init: Cell } {
  const state = { code: silentCode(methods), data };
  return {
    account: contractAddress(0, state).toRawString().toUpperCase(),
    init: beginCell().store(storeStateInit(state)).endCell(),
  };
}

/** The owner gives an item to the market, which deploys what sells it and passes the item on. */
function putUp(item: string, { account, init }: ReturnType<typeof listingOf>): Step {
  const deploy: Step = { to: account, body: commentBody('deploy'), init };
  const told: Step = { to: market, body: new Cell(), sends: [deploy, giveItem(item, account)] };
  return { to: item, body: order(market, TON / 10n), sends: [told] };
}

const assigned = (actions: readonly Action[]) => actions.filter(({ type }) => type === 'nft_transfer');

describe('an item is put up', () => {
  it('for sale', async () => {
    const [item, owner] = [raw('nft_2'), raw('w2')];
    const sale = listingOf(saleMethods(item, owner), saleTerms(owner));
    const { state, meant } = await network.act('w2', [putUp(item, sale)]);
    expect(state).toBe('ok');
    const listed = one(meant, 'nft_put_on_sale');
    expect(listed).toMatchObject({
      source: owner,
      sourceSecondary: market,
      destination: sale.account,
      destinationSecondary: null,
      asset: raw('nft_collection'),
      assetSecondary: item,
      data: {
        nft_transfer_data: { marketplace_address: market },
        nft_listing_data: {
          nft_item_index: 2n,
          marketplace: 'getgems',
          full_price: PRICE,
          marketplace_fee_address: feeTaker,
          royalty_address: royaltyTaker,
        },
      },
      parentActionId: null,
      success: true,
    });
    expect(listed.accounts).toEqual(expect.arrayContaining([owner, market, item, sale.account]));
    // Both ways of the item are parts of it.
    for (const part of assigned(meant)) {
      expect(part).toMatchObject({ parentActionId: listed.actionId, ancestorTypes: ['nft_put_on_sale'] });
    }
    expect(assigned(meant)).toHaveLength(2);
  });

  it('for auction', async () => {
    const [item, owner] = [raw('nft_1'), raw('w8')];
    const auction = listingOf(auctionMethods(item, owner, 0n), auctionTerms(owner));
    const { meant } = await network.act('w8', [putUp(item, auction)]);
    expect(one(meant, 'nft_put_on_auction')).toMatchObject({
      source: owner,
      sourceSecondary: market,
      destination: auction.account,
      destinationSecondary: null,
      asset: raw('nft_collection'),
      assetSecondary: item,
      data: {
        nft_transfer_data: { marketplace_address: market },
        nft_listing_data: {
          nft_item_index: 1n,
          marketplace: 'getgems',
          mp_fee_factor: 5n,
          mp_fee_base: 100n,
          royalty_fee_base: 100n,
          min_bid: TON,
          max_bid: 100n * TON,
          marketplace_fee_address: feeTaker,
          royalty_address: royaltyTaker,
        },
      },
      success: true,
    });
  });
});

describe('a sale', () => {
  const [sold, cancelled] = [accountOf(0x501), accountOf(0x502)];
  let item: string;

  beforeAll(async () => {
    item = raw('nft_0');
    await network.place(sold, saleMethods(item, raw('w6')));
    await network.place(cancelled, saleMethods(item, raw('w1')));
  });

  it('gets the item', async () => {
    const { meant } = await network.act('w6', [giveItem(item, sold)]);
    expect(one(meant, 'nft_transfer')).toMatchObject({ source: raw('w6'), destination: sold, success: true });
  });

  it('is told another price', async () => {
    const body = open(0x6c6c2080)
      .storeCoins(9n * TON)
      .storeCoins(5n)
      .storeCoins(3n)
      .endCell();
    const { meant } = await network.act('w6', [{ to: sold, body }]);
    expect(meant).toMatchObject([
      {
        type: 'nft_update_sale',
        source: raw('w6'),
        destination: sold,
        assetSecondary: item,
        data: {
          nft_transfer_data: { marketplace_address: market },
          nft_listing_data: { full_price: 9n * TON, marketplace_fee: 5n, royalty_amount: 3n },
        },
        success: true,
      },
    ]);
    expect(meant[0]!.accounts).toContain(item);
  });

  it('sells the item to whoever pays, and pays its owner', async () => {
    const payout: Step = { to: raw('w6'), body: commentBody('profit'), value: 6n * TON };
    const payment: Step = { to: sold, body: new Cell(), value: 8n * TON, sends: [payout, giveItem(item, raw('w1'))] };
    const { meant } = await network.act('w1', [payment]);
    const bought = one(meant, 'nft_purchase');
    expect(bought).toMatchObject({
      source: sold,
      destination: raw('w1'),
      asset: raw('nft_collection'),
      assetSecondary: item,
      data: {
        nft_transfer_data: {
          is_purchase: true,
          price: PRICE,
          nft_item_index: 0n,
          marketplace: 'getgems',
          real_prev_owner: raw('w6'),
          marketplace_address: market,
          payout_amount: 6n * TON,
          payout_comment: 'profit',
        },
      },
      success: true,
    });
    expect(bought.accounts).toEqual(expect.arrayContaining([sold, item, raw('w1'), raw('w6')]));
  });

  it('gives the item back when it is cancelled', async () => {
    await network.act('w1', [giveItem(item, cancelled)]);
    const cancel: Step = { to: cancelled, body: open(3).endCell(), sends: [giveItem(item, raw('w1'))] };
    const { meant } = await network.act('w1', [cancel]);
    expect(typesOf(meant)).toEqual(['nft_cancel_sale', 'nft_transfer']);
    expect(one(meant, 'nft_cancel_sale')).toMatchObject({
      source: raw('w1'),
      destination: cancelled,
      asset: raw('nft_collection'),
      assetSecondary: item,
      data: { nft_transfer_data: { marketplace_address: market } },
      success: true,
    });
    expect(one(meant, 'nft_transfer').data).toMatchObject({ nft_transfer_data: { is_purchase: false } });
  });
});

describe('an auction', () => {
  const [auction, cancelled] = [accountOf(0x503), accountOf(0x504)];
  const outbid = 'Your bid has been outbid by another user.';
  let item: string;

  beforeAll(async () => {
    item = raw('nft_0');
    await network.place(auction, auctionMethods(item, raw('w1'), 5n * TON));
    await network.place(cancelled, auctionMethods(item, raw('w5'), 0n));
    await network.act('w1', [giveItem(item, auction)]);
  });

  it('takes a bid, and returns the one before', async () => {
    const back: Step = { to: raw('w4'), body: commentBody(outbid), value: 2n * TON };
    const { meant } = await network.act('w5', [{ to: auction, body: new Cell(), value: 5n * TON, sends: [back] }]);
    expect(meant).toMatchObject([
      {
        type: 'auction_bid',
        source: raw('w5'),
        destination: auction,
        asset: raw('nft_collection'),
        assetSecondary: item,
        value: 5n * TON,
        data: { nft_transfer_data: { nft_item_index: 0n, marketplace: 'getgems' } },
        success: true,
      },
      {
        type: 'auction_outbid',
        source: auction,
        sourceSecondary: raw('w5'),
        destination: raw('w4'),
        amount: 2n * TON,
        data: { ton_transfer_data: { content: outbid } },
      },
    ]);
  });

  it('gives the item to the highest bidder when it is ended, and pays its owner', async () => {
    const payout: Step = { to: raw('w1'), body: commentBody('profit'), value: 4n * TON };
    const end: Step = { to: auction, body: commentBody('finish'), sends: [payout, giveItem(item, raw('w5'))] };
    const { meant } = await network.act('w9', [end]);
    const finished = one(meant, 'nft_finish_auction');
    expect(finished).toMatchObject({
      source: raw('w5'),
      destination: auction,
      asset: raw('nft_collection'),
      assetSecondary: item,
      data: { nft_transfer_data: { marketplace_address: null } },
    });
    expect(finished.accounts).toContain(item);
    expect(one(meant, 'nft_purchase')).toMatchObject({
      destination: raw('w5'),
      data: {
        nft_transfer_data: { price: 5n * TON, real_prev_owner: raw('w1'), payout_amount: 4n * TON },
      },
    });
  });

  it.each([
    ['a comment', commentBody('cancel')],
    ['an order', open(0x5616c572).endCell()],
  ])('gives the item back when it is cancelled by %s', async (_, body) => {
    await network.act('w5', [giveItem(item, cancelled)]);
    const { meant } = await network.act('w5', [{ to: cancelled, body, sends: [giveItem(item, raw('w5'))] }]);
    expect(typesOf(meant)).toEqual(['nft_cancel_auction', 'nft_transfer']);
    expect(one(meant, 'nft_cancel_auction')).toMatchObject({ source: raw('w5'), destination: cancelled });
  });

  it('without bids gives the item back when it is ended', async () => {
    await network.act('w5', [giveItem(item, cancelled)]);
    const end: Step = { to: cancelled, body: commentBody('stop'), sends: [giveItem(item, raw('w5'))] };
    const { meant } = await network.act('w9', [end]);
    expect(typesOf(meant)).toEqual(['nft_finish_auction', 'nft_transfer']);
  });
});
