import { beginCell } from '@ton/core';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import { createDetector, type Detected } from '#service/interfaces/detector.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { accountKey } from '#service/store/account-key.ts';
import {
  accountNumber,
  addressOf,
  cellEntry,
  changed,
  emptyCell,
  int,
  nothing,
  replaced,
  scriptedWorld,
  sliceOf,
  type Contract,
} from './scripted-world.ts';

const [self, market, nft, owner] = [accountNumber(1), accountNumber(2), accountNumber(3), accountNumber(4)];
const royalty = accountNumber(5);
const raw = (account: AccountId): string => formatRawAddress(account, 'upper');
const codeHash = beginCell().storeUint(0xc0de, 16).endCell().hash().toString('base64');

async function detect(methods: Contract['methods']): Promise<Detected> {
  const world = scriptedWorld({ [formatRawAddress(self)]: { methods } });
  const detector = createDetector({ network: 'mainnet' }, { register: new Registry() });
  return (await detector.detect(world, changed(self, { methods })))!;
}

const listing = [int(-1), int(1_700_000_000), addressOf(market), addressOf(nft), addressOf(owner), int(5_000)];
const fees = [addressOf(market), int(250), addressOf(royalty), int(100)];
const saleV3 = [int(0x46495850), ...listing, ...fees];
const saleV4 = [...listing, ...fees, int(0), int(0), nothing];

const parties = { marketplace: raw(market), nft: raw(nft), nftOwner: raw(owner), codeHash };
const row = {
  address: accountKey(self),
  nft: accountKey(nft),
  nft_owner: accountKey(owner),
  marketplace: accountKey(market),
  created_at: 1_700_000_000,
  last_trans_lt: 1n,
};

describe('a sale of getgems', () => {
  it('a sale of getgems that began past 2038 has the signed view of its second', async () => {
    const late = saleV3.with(2, int(3_000_000_000));
    const { nftSale } = await detect({ get_sale_data: late });
    expect(nftSale).toMatchObject({ ...row, created_at: 3_000_000_000 | 0 });
  });

  it.each([
    ['up to version 3', { get_sale_data: saleV3 }],
    ['of version 4', { get_fix_price_data_v4: saleV4 }],
    ['of version 4 with prices in jettons', { get_fix_price_data_v4: [...saleV4.slice(0, -1), cellEntry(emptyCell)] }],
    ['with entries above', { get_sale_data: [...saleV3, int(0), int(0)] }],
  ])('a sale of getgems %s has its terms', async (_name, methods) => {
    const { nftSale, facts } = await detect(methods);
    expect(nftSale).toMatchObject({
      ...row,
      type: 'getgems_sale',
      details: {
        is_complete: true,
        full_price: '5000',
        marketplace_fee_address: raw(market),
        marketplace_fee: '250',
        royalty_address: raw(royalty),
        royalty_amount: '100',
      },
    });
    expect(facts).toEqual({ nftSale: { ...parties, fullPrice: 5_000n } });
  });

  it('a sale of getgems may have no owner yet', async () => {
    const { nftSale, facts } = await detect({ get_sale_data: replaced(saleV3, 5, addressOf(null)) });
    expect(nftSale!.nft_owner).toBeNull();
    expect(facts.nftSale!.nftOwner).toBeNull();
  });

  it.each<[string, Contract['methods']]>([
    ['another magic', { get_sale_data: replaced(saleV3, 0, int(0x46495851)) }],
    ['no item', { get_sale_data: replaced(saleV3, 4, addressOf(null)) }],
    ['no marketplace', { get_sale_data: replaced(saleV3, 3, nothing) }],
    ['ten entries', { get_sale_data: saleV3.slice(0, 10) }],
    ['a time beyond 32 bits', { get_sale_data: replaced(saleV3, 2, int(2n ** 40n)) }],
    ['prices of version 4 that are no cell', { get_fix_price_data_v4: replaced(saleV4, 12, int(1)) }],
  ])('an account is no sale of getgems with %s', async (_name, methods) => {
    expect(await detect(methods)).toEqual({ facts: {}, lastTransLt: 1n });
  });
});

const bids = [
  int(7_000),
  addressOf(owner),
  int(5),
  addressOf(market),
  int(1),
  int(20),
  addressOf(royalty),
  int(2),
  int(50),
];
const limits = [int(9_000), int(1_000), int(1_700_000_000), int(1_700_000_100), int(0)];
const auction = [int(0), int(1_700_009_000), addressOf(market), addressOf(nft), addressOf(owner), ...bids, ...limits];
const auctionV3 = [int(0x415543), ...auction];
const auctionV4 = [int(-1), ...auction, int(300), int(0), addressOf(null), addressOf(null), int(0), int(0)];

describe('an auction of getgems', () => {
  const details = {
    end_flag: false,
    end_time: 1_700_009_000,
    last_bid: '7000',
    last_member: raw(owner),
    min_step: 5,
    mp_fee_address: raw(market),
    mp_fee_factor: 1,
    mp_fee_base: 20,
    royalty_fee_address: raw(royalty),
    royalty_fee_factor: 2,
    royalty_fee_base: 50,
    max_bid: '9000',
    min_bid: '1000',
    last_bid_at: 1_700_000_100,
    is_canceled: false,
  };

  it.each([
    ['up to version 3', { get_sale_data: auctionV3 }],
    ['of version 4', { get_auction_data_v4: auctionV4 }],
    ['of both forms', { get_sale_data: 9, get_auction_data_v4: auctionV4 }],
  ])('an auction of getgems %s has its terms', async (_name, methods) => {
    const { nftSale, facts } = await detect(methods);
    expect(nftSale).toMatchObject({ ...row, type: 'getgems_auction', details });
    expect(facts).toEqual({ nftAuction: { ...parties, lastBid: 7_000n } });
  });

  it('an auction of getgems without a bid has no last member', async () => {
    const { nftSale } = await detect({ get_sale_data: replaced(auctionV3, 7, addressOf(null)) });
    const { last_member: _, ...others } = details;
    expect(nftSale!.details).toEqual(others);
  });

  it.each<[string, Contract['methods']]>([
    ['another magic', { get_sale_data: replaced(auctionV3, 0, int(1)) }],
    ['nineteen entries', { get_sale_data: auctionV3.slice(0, 19) }],
    ['twenty-five entries of version 4', { get_auction_data_v4: auctionV4.slice(0, 25) }],
    ['a time that JSON cannot hold', { get_sale_data: replaced(auctionV3, 2, int(2n ** 60n)) }],
  ])('an account is no auction of getgems with %s', async (_name, methods) => {
    expect(await detect(methods)).toEqual({ facts: {}, lastTransLt: 1n });
  });
});

const text = (value: string): StackEntry => sliceOf(beginCell().storeStringTail(value).endCell());

describe('an item of Fragment', () => {
  const config = [addressOf(owner), int(10), int(0), int(5), int(3_600), int(604_800)];
  const methods = {
    get_telemint_token_name: [text('durov')],
    get_telemint_auction_state: [addressOf(market), int(11), int(1_700_000_000), int(12), int(1_700_600_000)],
    get_telemint_auction_config: config,
    royalty_params: [int(5), int(100), addressOf(royalty)],
  };
  const details = {
    token_name: 'durov',
    bidder_address: raw(market),
    bid: '11',
    bid_ts: '1700000000',
    min_bid: '12',
    end_time: 1_700_600_000,
    beneficiary_address: raw(owner),
    initial_min_bid: '10',
    max_bid: '0',
    min_bid_step: '5',
    min_extend_time: '3600',
    duration: '604800',
    royalty_numerator: 5,
    royalty_denominator: 100,
    royalty_destination: raw(royalty),
  };

  it('an item of Fragment has its auction', async () => {
    const { nftSale, facts } = await detect(methods);
    expect(nftSale).toMatchObject({ type: 'telemint', nft: null, nft_owner: null, marketplace: null, details });
    expect(facts).toEqual({});
  });

  it('an item of Fragment without an auction has no auction and no beneficiary', async () => {
    const empty = sliceOf(emptyCell);
    const { nftSale } = await detect({
      ...methods,
      get_telemint_auction_state: 219,
      get_telemint_auction_config: [empty, ...Array.from({ length: 5 }, () => int(0))],
    });
    const { bidder_address: _, beneficiary_address: __, ...others } = details;
    const none = { bid: '0', bid_ts: '0', min_bid: '0', end_time: 0, initial_min_bid: '0', max_bid: '0' };
    const noConfig = { min_bid_step: '0', min_extend_time: '0', duration: '0' };
    expect(nftSale!.details).toEqual({ ...others, ...none, ...noConfig });
  });

  it('an item of Fragment has a name without zero bytes, over any number of cells', async () => {
    const { nftSale } = await detect({ ...methods, get_telemint_token_name: [text(`a\0${'b'.repeat(200)}`)] });
    expect(nftSale!.details['token_name']).toBe(`a${'b'.repeat(200)}`);
  });

  it.each<[string, Contract['methods']]>([
    ['a name of no whole bytes', { get_telemint_token_name: [sliceOf(beginCell().storeUint(1, 3).endCell())] }],
    ['no configuration', { get_telemint_auction_config: 9 }],
    ['no royalty', { royalty_params: [int(5), int(100), addressOf(null)] }],
  ])('an account is no item of Fragment with %s', async (_name, wrong) => {
    expect(await detect({ ...methods, ...wrong })).toEqual({ facts: {}, lastTransLt: 1n });
  });
});
