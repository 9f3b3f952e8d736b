import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { dnsEntries, multisigOrders, multisigs, vestingContracts } from '#service/store/classification-tables.ts';
import {
  addRows,
  dnsEntry,
  keyOf,
  multisigOrderRow,
  multisigRow,
  rawOf,
  vestingRow,
} from '#test/support/contract-rows.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

let v3: V3UnderTest;
/** BoCs of the orders that somebody on the recorded chain has made, oldest first. */
let recorded: readonly Cell[];

const [alice, bob, carol, dave] = [11, 12, 13, 14];

async function get(operation: string, query: Query, headers = {}): Promise<Json> {
  const { status, body, flaws } = await v3.get(operation, query, headers);
  expect([operation, status, flaws]).toEqual([operation, 200, []]);
  return body as Json;
}

async function refused(operation: string, query: Query): Promise<string> {
  const { status, body, flaws } = await v3.get(operation, query);
  expect([operation, status, flaws]).toEqual([operation, 422, []]);
  return (body as { error: string }).error;
}

const fieldOf = (answer: Json, list: string, field: string): unknown[] =>
  (answer[list] as Json[]).map((item) => item[field]);

/** `new_order#f718510f query_id:uint64 order_seqno:uint256 signer:bool index:uint8 expiration_date:uint48 order:^Cell`. */
async function readRecordedOrders(): Promise<readonly Cell[]> {
  const { messages } = (await get('messages', { opcode: '0xf718510f', sort: 'asc' })) as {
    messages: readonly { readonly message_content: { readonly body: string } }[];
  };
  return messages.map((message) => Cell.fromBase64(message.message_content.body).refs[0]!);
}

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename);
  recorded = await readRecordedOrders();
  const { store } = v3.index;
  await addRows(store, dnsEntries, [
    dnsEntry({
      nft_item: keyOf(1),
      domain: 'alice.ton',
      nft_item_owner: keyOf(alice),
      wallet: keyOf(alice),
      next_resolver: keyOf(5),
      site_adnl: 'AB'.repeat(32),
      storage_bag_id: 'CD'.repeat(32),
    }),
    dnsEntry({ nft_item: keyOf(2), domain: 'al.ton', nft_item_owner: keyOf(alice), wallet: keyOf(alice) }),
    dnsEntry({ nft_item: keyOf(3), domain: 'a.ton', nft_item_owner: keyOf(bob), wallet: keyOf(alice) }),
    dnsEntry({ nft_item: keyOf(4), domain: 'sub.name.t.me' }),
  ]);
  await addRows(store, multisigs, [
    multisigRow({ address: keyOf(21), signers: [keyOf(alice), keyOf(bob)], next_order_seqno: 2n, threshold: 2 }),
    multisigRow({ address: keyOf(20), signers: [keyOf(carol)], proposers: [keyOf(alice)] }),
  ]);
  await addRows(
    store,
    multisigOrders,
    recorded.map((order, at) =>
      multisigOrderRow({
        address: keyOf(31 + at),
        multisig: keyOf(21),
        order_seqno: BigInt(at),
        order_boc: order.toBoc(),
        signers: [keyOf(alice), keyOf(bob)],
        approvals_mask: 1n,
        approvals_num: 1,
        threshold: 2,
      }),
    ),
  );
  await addRows(store, vestingContracts, [
    vestingRow({
      address: keyOf(41),
      sender: keyOf(alice),
      owner: keyOf(bob),
      whitelist: [keyOf(carol), keyOf(dave)],
      start_time: 2n ** 60n + 1n,
    }),
    vestingRow({ address: keyOf(40), sender: keyOf(carol), owner: keyOf(alice) }),
  ]);
});
afterAll(() => v3.close());

describe('dns/records', () => {
  it('tells what a name stands for', async () => {
    const answer = await get('dns/records', { domain: 'alice.ton' });
    expect(answer['records']).toEqual([
      {
        nft_item_address: rawOf(1),
        nft_item_owner: rawOf(alice),
        domain: 'alice.ton',
        dns_next_resolver: rawOf(5),
        dns_wallet: rawOf(alice),
        dns_site_adnl: 'AB'.repeat(32),
        dns_storage_bag_id: 'CD'.repeat(32),
      },
    ]);
    expect(Object.keys(answer['address_book'] as Json)).toEqual([rawOf(1), rawOf(alice)]);
  });

  it('tells the names that stand for a wallet, the shortest first, however its address is spelled', async () => {
    const answer = await get('dns/records', { wallet: rawOf(alice) });
    expect(fieldOf(answer, 'records', 'domain')).toEqual(['a.ton', 'al.ton', 'alice.ton']);
    const book = (await get('addressBook', { address: rawOf(alice) })) as Record<string, { user_friendly: string }>;
    const spelled = await get('dns/records', { wallet: book[rawOf(alice)]!.user_friendly, limit: 1, offset: 1 });
    expect(fieldOf(spelled, 'records', 'domain')).toEqual(['al.ton']);
  });

  it('knows names without anything, and nothing of other names', async () => {
    const { records } = await get('dns/records', { domain: 'sub.name.t.me' });
    expect(records).toMatchObject([{ nft_item_owner: null, dns_wallet: null, dns_site_adnl: null }]);
    for (const domain of ['Alice.ton', 'alice', 'nobody.ton', 'alice.ton\0']) {
      expect(await get('dns/records', { domain })).toEqual({ records: [], address_book: {} });
    }
  });

  it('wants exactly one of the two', async () => {
    expect(await refused('dns/records', {})).toBe('either wallet address or domain is required');
    expect(await refused('dns/records', { wallet: '', domain: '' })).toBe(
      'either wallet address or domain is required',
    );
    expect(await refused('dns/records', { wallet: rawOf(alice), domain: 'a.ton' })).toBe(
      'provide either wallet address or domain, not both',
    );
    expect(await refused('dns/records', { domain: 'a.ton', limit: 1001 })).toBe('limit is not allowed: 1001 > 1000');
  });
});

describe('an address book', () => {
  it('tells the shortest name that an account owns and that stands for it', async () => {
    const book = await get('addressBook', { address: [rawOf(alice), rawOf(bob), 'nobody'] });
    expect(Object.values(book)).toMatchObject([{ domain: 'al.ton' }, { domain: null }, { domain: null }]);
    const { address_book: embedded } = await get('vesting', { contract_address: rawOf(41) });
    expect(embedded).toMatchObject({ [rawOf(alice)]: { domain: 'al.ton' }, [rawOf(bob)]: { domain: null } });
  });
});

describe('multisig/wallets', () => {
  it('lists those of a signer or proposer with their orders, the newest first', async () => {
    const answer = await get('multisig/wallets', { wallet_address: rawOf(alice) });
    expect(answer['multisigs']).toMatchObject([
      { address: rawOf(20), signers: [rawOf(carol)], proposers: [rawOf(alice)], next_order_seqno: null, orders: [] },
      { address: rawOf(21), threshold: 2, next_order_seqno: '2', signers: [rawOf(alice), rawOf(bob)], proposers: [] },
    ]);
    const [, last] = answer['multisigs'] as { orders: Json[] }[];
    expect(last!.orders.map(({ address, actions }) => [address, actions])).toEqual(
      recorded.map((_order, at) => [rawOf(31 + at), null]),
    );
    const book = Object.keys(answer['address_book'] as Json);
    expect(book.toSorted()).toEqual([11, 12, 13, 20, 21, ...recorded.map((_order, at) => 31 + at)].map(rawOf));
  });

  it('lists those of addresses in the order of sight, and without orders', async () => {
    const address = [rawOf(21), rawOf(20), rawOf(99)];
    const byAddress = await get('multisig/wallets', { address });
    expect(fieldOf(byAddress, 'multisigs', 'address')).toEqual([rawOf(20), rawOf(21)]);
    const turned = await get('multisig/wallets', { address, sort: 'asc' });
    expect(fieldOf(turned, 'multisigs', 'address')).toEqual([rawOf(21), rawOf(20)]);
    const bare = await get('multisig/wallets', { address, include_orders: false });
    expect(fieldOf(bare, 'multisigs', 'orders')).toEqual([[], []]);
    const oldest = await get('multisig/wallets', { wallet_address: [rawOf(bob), rawOf(carol)], sort: 'asc' });
    expect(fieldOf(oldest, 'multisigs', 'address')).toEqual([rawOf(21), rawOf(20)]);
    const both = await get('multisig/wallets', { address, wallet_address: rawOf(bob), limit: 1 });
    expect(fieldOf(both, 'multisigs', 'address')).toEqual([rawOf(21)]);
  });

  it('wants to know which', async () => {
    expect(await refused('multisig/wallets', { include_orders: true })).toBe(
      'At least one of address or wallet_address should be specified',
    );
  });
});

describe('multisig/orders', () => {
  it('tells the recorded orders step by step', async () => {
    const answer = await get('multisig/orders', { multisig_address: rawOf(21), parse_actions: true, sort: 'asc' });
    const orders = answer['orders'] as { actions: Json[]; order_boc: string }[];
    expect(orders.length).toBeGreaterThan(1);
    expect(orders.map((order) => Cell.fromBase64(order.order_boc).hash())).toEqual(recorded.map((cell) => cell.hash()));
    const steps = orders.flatMap(({ actions }) => actions);
    expect(steps.length).toBeGreaterThanOrEqual(orders.length);
    for (const step of steps) {
      expect(step).toMatchObject({ parsed: true, error: null, parsed_body_type: expect.not.stringMatching('unknown') });
    }
    // Order 0 pays 1.5 TON to w9 (the recorded chain's events).
    expect(orders[0]!.actions).toMatchObject([{ value: '1500000000', parsed_body_type: 'ton_transfer' }]);
    expect(Object.keys(answer['address_book'] as Json)).toContain(orders[0]!.actions[0]!['destination']);
  });

  it('lists the newest first, those of addresses too, with actions null unless they are asked for', async () => {
    const newest = await get('multisig/orders', { multisig_address: rawOf(21) });
    const addresses = recorded.map((_order, at) => rawOf(31 + at));
    expect(fieldOf(newest, 'orders', 'address')).toEqual(addresses.toReversed());
    expect(fieldOf(newest, 'orders', 'actions')).toEqual(recorded.map(() => null));
    const byAddress = await get('multisig/orders', { address: addresses });
    expect(fieldOf(byAddress, 'orders', 'address')).toEqual(addresses.toReversed());
    expect(await get('multisig/orders', { address: rawOf(99) })).toEqual({ orders: [], address_book: {} });
  });

  it('wants to know which', async () => {
    expect(await refused('multisig/orders', { parse_actions: true })).toBe(
      'At least one of address or multisig_address should be specified',
    );
  });
});

describe('vesting', () => {
  it('lists those of a sender or owner as they were first seen, with all digits of their times', async () => {
    const answer = await v3.get('vesting', { wallet_address: rawOf(alice) });
    expect([answer.status, answer.flaws]).toEqual([200, []]);
    expect((answer.body as Json)['vesting_contracts']).toMatchObject([
      {
        address: rawOf(41),
        sender_address: rawOf(alice),
        owner_address: rawOf(bob),
        total_amount: '5',
        total_duration: 1000,
        unlock_period: 100,
        cliff_duration: 0,
        whitelist: [rawOf(carol), rawOf(dave)],
      },
      { address: rawOf(40), start_time: 1_700_000_000, whitelist: [] },
    ]);
    const response = await fetch(`${v3.api.api.url}/api/v3/vesting?contract_address=${rawOf(41)}`, {
      headers: { 'x-api-key': v3.api.key },
    });
    expect(await response.text()).toContain(`"start_time":${2n ** 60n + 1n},`);
  });

  it('looks at whitelists when told so', async () => {
    const without = await get('vesting', { wallet_address: rawOf(dave) });
    expect(without).toEqual({ vesting_contracts: [], address_book: {} });
    const found = await get('vesting', { wallet_address: rawOf(dave), check_whitelist: true });
    expect(fieldOf(found, 'vesting_contracts', 'address')).toEqual([rawOf(41)]);
    const carols = await get('vesting', { wallet_address: rawOf(carol), check_whitelist: true });
    expect(fieldOf(carols, 'vesting_contracts', 'address')).toEqual([rawOf(41), rawOf(40)]);
  });

  it('lists those of addresses as they were first seen, and wants exactly one kind', async () => {
    const answer = await get('vesting', { contract_address: [rawOf(40), rawOf(41)] });
    expect(fieldOf(answer, 'vesting_contracts', 'address')).toEqual([rawOf(41), rawOf(40)]);
    expect(await refused('vesting', {})).toBe('at least one of contract_address or wallet_address is required');
    expect(await refused('vesting', { contract_address: rawOf(1), wallet_address: rawOf(2) })).toBe(
      'only one of contract_address or wallet_address should be specified',
    );
  });
});

it('callers who want no address book get none', async () => {
  for (const [operation, query] of [
    ['dns/records', { domain: 'alice.ton' }],
    ['multisig/wallets', { address: rawOf(20) }],
    ['multisig/orders', { multisig_address: rawOf(21) }],
    ['vesting', { contract_address: rawOf(40) }],
  ] as const) {
    const answer = await get(operation, query, { 'X-No-Address-Book': 'true' });
    expect([operation, answer['address_book']]).toEqual([operation, {}]);
  }
});

/** Names of all items, page by page: the first page's parameters, then the cursor alone. */
async function follow(operation: string, query: Query, name: (body: Json) => string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const answer = await v3.get(operation, { ...query, limit: 1, ...(cursor !== '' && { cursor }) });
    expect([answer.status, answer.flaws]).toEqual([200, []]);
    if (((Object.values(answer.body as Json)[0] ?? []) as unknown[]).length > 0) found.push(name(answer.body as Json));
    cursor = answer.headers.get('x-next-cursor');
  }
  return found;
}

describe('a list', () => {
  it.each<[operation: string, query: Query, list: string, field: string]>([
    ['dns/records', { wallet: rawOf(alice) }, 'records', 'domain'],
    ['multisig/wallets', { wallet_address: rawOf(alice) }, 'multisigs', 'address'],
    ['multisig/wallets', { address: [rawOf(21), rawOf(20)] }, 'multisigs', 'address'],
    ['multisig/wallets', { address: [rawOf(20), rawOf(21)], sort: 'asc' }, 'multisigs', 'address'],
    ['multisig/orders', { address: [rawOf(31), rawOf(32)] }, 'orders', 'address'],
    ['multisig/orders', { multisig_address: rawOf(21), sort: 'asc' }, 'orders', 'address'],
    ['multisig/orders', { multisig_address: [rawOf(21), rawOf(20)] }, 'orders', 'address'],
    ['vesting', { wallet_address: rawOf(alice) }, 'vesting_contracts', 'address'],
    ['vesting', { contract_address: [rawOf(40), rawOf(41)] }, 'vesting_contracts', 'address'],
  ])('of %s with %j goes on behind a cursor', async (operation, query, list, field) => {
    const whole = fieldOf(await get(operation, query), list, field);
    expect(whole.length).toBeGreaterThan(1);
    expect(await follow(operation, query, (body) => String(fieldOf(body, list, field)[0]))).toEqual(whole);
  });

  it('does not go on behind the cursor of another', async () => {
    const { headers } = await v3.get('dns/records', { wallet: rawOf(alice), limit: 1 });
    const cursor = headers.get('x-next-cursor')!;
    expect(await refused('vesting', { wallet_address: rawOf(alice), cursor })).toContain('cursor is of another list');
    expect(await refused('dns/records', { wallet: rawOf(alice), cursor, offset: 1 })).toContain('cursor and offset');
    expect(await refused('dns/records', { wallet: rawOf(alice), cursor: 'x' })).toContain('"cursor"');
  });
});
