import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '../style/sources.ts';
import { createClassifiedIndex } from '../support/classified-index.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '../support/v3-service.ts';

// What the recorded chain's own contracts are, from its blocks to the answers: found, confirmed and told by the interpreter.

type Json = Record<string, unknown>;
type Recorded = Readonly<Record<string, { readonly address: string; readonly code_hash: string }>>;

let v3: V3UnderTest;
beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename, {}, createClassifiedIndex);
}, 360_000);
afterAll(() => v3.close());

/** Accounts that the recording's driver named. */
const recorded = JSON.parse(readFileSync(join(projectRoot, 'test/vectors/realnet/accounts.json'), 'utf8')) as Recorded;

/** As v3 shows it. */
function addressOf(label: string): string {
  const [workchain, id] = recorded[label]!.address.split(':');
  return `${workchain}:${id!.toUpperCase()}`;
}
const codeHashOf = (label: string): string => Buffer.from(recorded[label]!.code_hash, 'hex').toString('base64');

async function get(operation: string, query: Query): Promise<Json> {
  const { status, body, flaws } = await v3.get(operation, query);
  expect([operation, status, flaws]).toEqual([operation, 200, []]);
  return body as Json;
}

describe('the recorded multisig', () => {
  it('is found by address, by signer and by proposer, with its orders', async () => {
    const wanted = {
      address: addressOf('multisig'),
      next_order_seqno: '2',
      threshold: 2,
      signers: ['w1', 'w4', 'w8'].map(addressOf),
      proposers: [addressOf('w2')],
      code_hash: codeHashOf('multisig'),
    };
    for (const query of [
      { address: addressOf('multisig') },
      { wallet_address: addressOf('w4') },
      { wallet_address: addressOf('w2') },
    ]) {
      const { multisigs } = (await get('multisig/wallets', query)) as { multisigs: { orders: Json[] }[] };
      expect(multisigs).toMatchObject([wanted]);
      const orders = new Set(multisigs[0]!.orders.map(({ address }) => address));
      expect(orders).toEqual(new Set(['ms_order_0', 'ms_order_1'].map(addressOf)));
    }
    const { multisigs: none } = await get('multisig/wallets', { wallet_address: addressOf('w9') });
    expect(none).toEqual([]);
  });

  it('has executed one order and waits for an approval of the other', async () => {
    const orders = async (label: string) =>
      (await get('multisig/orders', { address: addressOf(label), parse_actions: true }))['orders'];
    const common = { multisig_address: addressOf('multisig'), threshold: 2, code_hash: codeHashOf('ms_order_0') };
    expect(await orders('ms_order_0')).toMatchObject([
      {
        ...common,
        order_seqno: '0',
        sent_for_execution: true,
        approvals_num: 2,
        // Of w1, whose order it was, and of w4.
        approvals_mask: '3',
        actions: [{ destination: addressOf('w9'), value: '1500000000', parsed_body_type: 'ton_transfer' }],
      },
    ]);
    expect(await orders('ms_order_1')).toMatchObject([
      // Of w8.
      { ...common, order_seqno: '1', sent_for_execution: false, approvals_num: 1, approvals_mask: '4' },
    ]);
    const all = await get('multisig/orders', { multisig_address: addressOf('multisig') });
    expect(all['orders']).toHaveLength(2);
  });
});

it('the recorded vesting contract is found by address, sender, owner, and those it may send to', async () => {
  const answer = await get('vesting', { contract_address: addressOf('vesting') });
  const [contract] = answer['vesting_contracts'] as { whitelist: string[]; total_amount: string }[];
  expect(contract).toMatchObject({
    address: addressOf('vesting'),
    sender_address: addressOf('w10'),
    owner_address: addressOf('w11'),
    // 100 TON over ten days.
    total_amount: (100n * 10n ** 9n).toString(),
    total_duration: 10 * 86_400,
  });
  expect(contract!.whitelist.length).toBeGreaterThan(0);
  for (const wallet of [addressOf('w10'), addressOf('w11')]) {
    expect((await get('vesting', { wallet_address: wallet }))['vesting_contracts']).toEqual([contract]);
  }
  const listed = { wallet_address: contract!.whitelist[0]!, check_whitelist: true };
  expect((await get('vesting', listed))['vesting_contracts']).toEqual([contract]);
});

it('the recorded domain stands for the wallet that its owner has set, both ways', async () => {
  const { records } = (await get('dns/records', { domain: 'realnet-example.ton' })) as { records: Json[] };
  expect(records).toMatchObject([
    {
      nft_item_address: addressOf('dns_item'),
      nft_item_owner: addressOf('w4'),
      domain: 'realnet-example.ton',
      dns_site_adnl: expect.stringMatching(/^[0-9A-F]{64}$/),
      dns_storage_bag_id: null,
    },
  ]);
  const wallet = records[0]!['dns_wallet'] as string;
  const answer = await get('dns/records', { wallet });
  expect(answer['records']).toEqual(records);
  const named = wallet === addressOf('w4') ? 'realnet-example.ton' : null;
  expect(answer['address_book']).toMatchObject({ [addressOf('w4')]: { domain: named } });
});

const stackOf = async (address: unknown, method: string): Promise<{ type: string; value: string }[]> => {
  const { status, body } = await v3.post('runGetMethod', { address, method, stack: [] });
  const { exit_code: exitCode, stack } = body as { exit_code: number; stack: { type: string; value: string }[] };
  expect([status, exitCode]).toEqual([200, 0]);
  return stack;
};

describe('of every recorded token, what its own get-methods say at the last block', () => {
  it('is the balance of each jetton wallet', async () => {
    const { jetton_wallets: wallets } = (await get('jetton/wallets', { limit: 1000 })) as { jetton_wallets: Json[] };
    expect(wallets.length).toBeGreaterThan(5);
    for (const { address, balance, owner, jetton } of wallets) {
      const stack = await stackOf(address, 'get_wallet_data');
      expect([balance, owner, jetton]).toEqual([
        BigInt(stack[0]!.value).toString(),
        accountIn(stack[1]!.value),
        accountIn(stack[2]!.value),
      ]);
    }
  });

  it('is the owner of each NFT item', async () => {
    const { nft_items: items } = (await get('nft/items', { limit: 1000 })) as { nft_items: Json[] };
    expect(items.length).toBeGreaterThan(5);
    for (const { address, index, owner_address: owner } of items) {
      const stack = await stackOf(address, 'get_nft_data');
      expect([index, owner]).toEqual([BigInt(stack[1]!.value).toString(), accountIn(stack[3]!.value)]);
    }
  });
});

/** The account in a slice of a stack. */
function accountIn(boc: string): string {
  const { workChain, hash } = Cell.fromBase64(boc).beginParse().loadAddress();
  return `${workChain}:${hash.toString('hex').toUpperCase()}`;
}
