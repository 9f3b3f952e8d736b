import { createHash } from 'node:crypto';

import { beginCell, Cell, Dictionary, internal, storeMessageRelaxed } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { parseAddress } from '#service/decode/address.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { startScriptedNetwork, type ScriptedNetwork } from '#test/support/scripted-network.ts';
import { open } from '#test/support/event-traces.ts';
import { putAccount } from '#test/support/put-account.ts';

// Actions of real traces of real contracts: multisig wallets and names of `.ton`.

let network: ScriptedNetwork;

beforeAll(async () => {
  network = await startScriptedNetwork();
});
afterAll(() => network.close());

const TON = 1_000_000_000n;
const YEAR = 31_622_400;
/** Longer than an auction of a name goes on after a bid. */
const AUCTION_SECONDS = 3600;
const raw = (name: string): string => network.address(name).toRawString().toUpperCase();
const some = (actions: readonly Action[], type: string): Action => {
  const found = actions.filter((action) => action.type === type);
  expect(found).toHaveLength(1);
  return found[0]!;
};

const expires = 2_000_000_000n;

/** One message that the multisig shall send. */
function orderCell(): Cell {
  const message = beginCell()
    .store(storeMessageRelaxed(internal({ to: network.address('w9'), value: TON })))
    .endCell();
  const action = beginCell().storeUint(0xf1381e5b, 32).storeUint(1, 8).storeRef(message).endCell();
  const actions = Dictionary.empty(Dictionary.Keys.Uint(8), Dictionary.Values.Cell()).set(0, action);
  return beginCell().storeDictDirect(actions).endCell();
}

const newOrder = (seqno: bigint, isSigner: boolean): Cell =>
  open(0xf718510f)
    .storeUint(seqno, 256)
    .storeBit(isSigner)
    .storeUint(0, 8)
    .storeUint(expires, 48)
    .storeRef(orderCell())
    .endCell();
const approval = (index: number): Cell => open(0xa762230f).storeUint(index, 8).endCell();
const signers = (): string[] => ['w1', 'w4', 'w8'].map(raw);
const bocOf = (cell: Cell): string => cell.toBoc({ idx: false, crc32: false }).toString('base64');

async function create(name: string, seqno: bigint, isSigner: boolean): Promise<Action> {
  const { state, meant } = await network.act(name, [{ to: raw('multisig'), body: newOrder(seqno, isSigner) }]);
  expect(state).toBe('ok');
  return some(meant, 'multisig_create_order');
}

describe('orders of a multisig', () => {
  const orders: string[] = [];

  it('are made by signers, who approve of them at once', async () => {
    const created = await create('w1', 2n, true);
    const order = created.destinationSecondary!;
    orders.push(order);
    expect(created).toMatchObject({
      source: raw('w1'),
      destination: raw('multisig'),
      data: {
        multisig_create_order_data: {
          query_id: 0n,
          order_seqno: 2n,
          is_created_by_signer: true,
          is_signed_by_creator: true,
          creator_index: 0,
          expiration_date: expires,
          order_boc: bocOf(orderCell()),
        },
      },
      success: true,
    });
    expect(new Set(created.accounts)).toEqual(new Set([...signers(), raw('multisig'), order]));
  });

  it('are approved of by others, and executed when they are enough', async () => {
    const [order] = orders as [string];
    const { meant, actions } = await network.act('w4', [{ to: order, body: approval(1) }]);
    expect(meant.map(({ type }) => type).toSorted()).toEqual(['multisig_approve', 'multisig_execute']);
    const approved = some(meant, 'multisig_approve');
    expect(approved).toMatchObject({
      source: raw('w4'),
      destination: order,
      data: { multisig_approve_data: { signer_index: 1, exit_code: 0 } },
      success: true,
    });
    expect(new Set(approved.accounts)).toEqual(new Set([...signers(), order]));
    const executed = some(meant, 'multisig_execute');
    expect(executed).toMatchObject({
      source: order,
      destination: raw('multisig'),
      data: {
        multisig_execute_data: {
          order_seqno: 2n,
          expiration_date: expires,
          approvals_num: 2,
          signers_hash: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
          order_boc: bocOf(orderCell()),
        },
      },
      success: true,
    });
    expect(new Set(executed.accounts)).toEqual(new Set([...signers(), order, raw('multisig')]));
    expect(
      some(
        actions.filter(({ destination }) => destination === raw('w9')),
        'ton_transfer',
      ).value,
    ).toBe(TON);
  });

  it('cannot be approved of when they are executed', async () => {
    const [order] = orders as [string];
    const { meant } = await network.act('w8', [{ to: order, body: approval(2) }]);
    const { exit_code: exitCode } = some(meant, 'multisig_approve').data['multisig_approve_data'] as {
      exit_code: number;
    };
    expect(exitCode).toBeGreaterThan(0);
    expect(meant).toMatchObject([{ source: raw('w8'), destination: order, success: false }]);
  });

  it('are made by proposers too, who cannot approve of them, and are approved of by a comment', async () => {
    const created = await create('w2', 3n, false);
    const data = { is_created_by_signer: false, is_signed_by_creator: false, order_seqno: 3n };
    expect(created).toMatchObject({ source: raw('w2'), data: { multisig_create_order_data: data }, success: true });
    const order = created.destinationSecondary!;
    const { meant } = await network.act('w1', [{ to: order, body: commentBody('approve') }]);
    expect(meant).toMatchObject([
      {
        type: 'multisig_approve',
        source: raw('w1'),
        destination: order,
        data: { multisig_approve_data: { signer_index: -1, exit_code: 0 } },
        success: true,
      },
    ]);
  });

  it('are not approved of by a stranger', async () => {
    const { meant, actions } = await network.act('w5', [{ to: orders[0]!, body: approval(0) }]);
    expect(meant).toEqual([]);
    expect(actions).toMatchObject([{ type: 'call_contract', success: false }, { type: 'call_contract' }]);
  });
});

const record = (key: bigint, value?: Cell): Cell => {
  const body = open(0x4eb1f0f9).storeUint(key, 256);
  return (value === undefined ? body : body.storeRef(value)).endCell();
};
const recordKey = (text: string): bigint => BigInt(`0x${sha256Of(text)}`);

describe('names of .ton', () => {
  const collection = '0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF';
  const name = 'acted-example';
  const index = BigInt(`0x${beginCell().storeStringTail(name).endCell().hash().toString('hex')}`);
  let item: string;

  beforeAll(async () => {
    await network.network.step([putAccount(parseAddress(collection)!, network.contract('dns_collection'))]);
  });

  const common = () => ({ source: raw('w4'), destination: item, asset: collection, success: true });

  it('are minted for the first bidder', async () => {
    const { meant } = await network.act('w8', [{ to: collection, body: commentBody(name), value: 12n * TON }]);
    const minted = some(meant, 'nft_mint');
    item = minted.destination!;
    expect(minted).toMatchObject({
      asset: collection,
      assetSecondary: item,
      data: { nft_mint_data: { nft_item_index: index } },
      success: true,
    });
  });

  it('are bid for, and the bid before goes back', async () => {
    const { meant } = await network.act('w4', [{ to: item, body: new Cell(), value: 15n * TON }]);
    expect(meant.map(({ type }) => type)).toEqual(['auction_bid', 'auction_outbid']);
    const [bid, outbid] = meant;
    expect(bid).toMatchObject({ ...common(), assetSecondary: item, value: 15n * TON });
    expect(bid!.data).toMatchObject({ nft_transfer_data: { nft_item_index: index } });
    expect(outbid).toMatchObject({
      source: item,
      sourceSecondary: raw('w4'),
      destination: raw('w8'),
      asset: collection,
      assetSecondary: item,
      success: true,
    });
    expect(outbid!.amount).toBeGreaterThan(10n * TON);
  });

  it('are bought by the first thing that is done with them after the auction', async () => {
    await network.wait(AUCTION_SECONDS);
    const key = recordKey('wallet');
    const value = beginCell().storeUint(0x9fd3, 16).storeAddress(network.address('w9')).storeUint(0, 8).endCell();
    const { meant } = await network.act('w4', [{ to: item, body: record(key, value) }]);
    expect(meant.map(({ type }) => type).toSorted()).toEqual(['change_dns', 'dns_purchase']);
    const purchase = some(meant, 'dns_purchase');
    expect(purchase).toMatchObject({ destination: raw('w4'), asset: collection, assetSecondary: item, success: true });
    const {
      price,
      payout_amount: payout,
      nft_item_index: bought,
    } = purchase.data['nft_transfer_data'] as Record<string, bigint>;
    expect(price).toBeGreaterThan(10n * TON);
    expect({ payout, bought }).toEqual({ payout: price, bought: index });
    expect(some(meant, 'change_dns')).toMatchObject({
      ...common(),
      data: {
        change_dns_record_data: {
          key: key.toString(16).padStart(64, '0'),
          value_schema: 'DNSSmcAddress',
          value: raw('w9'),
          flags: 0,
        },
      },
    });
  });

  const records: readonly (readonly [string, (store: ReturnType<typeof beginCell>) => unknown, object])[] = [
    [
      'of a site',
      (cell) => cell.storeUint(0xad01, 16).storeUint(0xabcn, 256).storeUint(0, 8),
      { value_schema: 'DNSAdnlAddress', value: 'abc'.padStart(64, '0'), flags: 0 },
    ],
    [
      'of a bag of storage',
      (cell) => cell.storeUint(0x7473, 16).storeUint(0xdefn, 256),
      { value_schema: 'DNSStorageAddress', value: 'def'.padStart(64, '0'), flags: null },
    ],
    [
      'of a text',
      (cell) => cell.storeUint(0x1eda, 16).storeUint(1, 8).storeUint(5, 8).storeStringTail('hello'),
      { value_schema: 'DNSText', value: 'hello', flags: null },
    ],
    ['of another kind', (cell) => cell.storeUint(0x1234, 16), { value_schema: 'Unknown', value: null, flags: null }],
  ];

  it.each(records)('have records: one %s', async (_, write, wanted) => {
    const value = beginCell();
    write(value);
    const { meant } = await network.act('w4', [{ to: item, body: record(5n, value.endCell()) }]);
    expect(meant).toMatchObject([{ type: 'change_dns', ...common(), data: { change_dns_record_data: wanted } }]);
  });

  it('have records that name the next resolver', async () => {
    const value = beginCell().storeUint(0xba93, 16).storeAddress(network.address('w1')).endCell();
    const { meant } = await network.act('w4', [{ to: item, body: record(5n, value) }]);
    const wanted = { value_schema: 'DNSNextResolver', value: raw('w1') };
    expect(meant).toMatchObject([{ type: 'change_dns', ...common(), data: { change_dns_record_data: wanted } }]);
  });

  it('lose a record that is set to nothing', async () => {
    const { meant } = await network.act('w4', [{ to: item, body: record(5n) }]);
    const wanted = { key: '5'.padStart(64, '0') };
    expect(meant).toMatchObject([{ type: 'delete_dns', ...common(), data: { change_dns_record_data: wanted } }]);
  });

  it('are renewed by nothing in no category', async () => {
    const { meant } = await network.act('w4', [{ to: item, body: record(0n) }]);
    expect(meant).toMatchObject([{ type: 'renew_dns', ...common(), data: {} }]);
  });

  it('are not changed by strangers', async () => {
    const { meant } = await network.act('w5', [{ to: item, body: record(0n) }]);
    expect(meant).toMatchObject([{ type: 'renew_dns', source: raw('w5'), success: false }]);
  });

  it('are sold anew by whoever pays for it after a year', async () => {
    await network.wait(YEAR + 100);
    const { meant } = await network.act('w5', [{ to: item, body: open(0x4ed14b65).endCell(), value: 20n * TON }]);
    expect(some(meant, 'dns_release')).toMatchObject({
      source: raw('w5'),
      destination: item,
      asset: collection,
      value: 20n * TON,
      data: { nft_transfer_data: { query_id: 0n, nft_item_index: index } },
      success: true,
    });
  });
});

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
