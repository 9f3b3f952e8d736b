import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { jettonMinter } from '#service/devchain/demo/tokens.ts';
import { CONFIG_ID } from '#service/devchain/zerostate/genesis-config.ts';
import { genesisWallet } from '#service/devchain/zerostate/wallet.ts';
import type { GenesisAccount } from '#service/devchain/zerostate/zerostate.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { createV3Judge } from '#test/support/v3-reference.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

type Json = Record<string, unknown>;

const seed = Buffer.alloc(32, 0x5e);
const balance = 6_000_000_000_000_000_000n;
/** Richer than the faucet, and nobody sends it anything. */
const untouched = genesisWallet(validatorKey(seed).publicKey, balance);
const address = formatRawAddress({ workchain: 0, id: untouched.id }, 'upper');

const minter = jettonMinter(new Address(0, untouched.id));
const minterAddress = formatRawAddress({ workchain: 0, id: minter.address.hash }, 'upper');

function genesisMinter(): GenesisAccount {
  const store = createCellStore();
  const [code, data] = [minter.init.code!, minter.init.data!].map((cell) => {
    const boc = parseBoc(cell.toBoc());
    return store.import(boc, boc.roots[0]!);
  }) as [number, number];
  return { id: minter.address.hash, balance: 1_000_000_000n, store, code, data };
}

describe('an account that is there from the beginning, and that no transaction has touched', () => {
  let network: PrivateNetwork;
  let index: StoreUnderTest;
  let api: Awaited<ReturnType<typeof startApiOver>>;
  const judge = createV3Judge();

  async function ask<T>(operation: string, query: string): Promise<T> {
    const path = `/api/v3/${operation}`;
    const response = await fetch(`${api.api.url}${path}?${query}`, { headers: { 'x-api-key': api.key } });
    const body: unknown = await response.json();
    expect(judge.flaws({ path, method: 'GET', status: response.status }, body)).toEqual([]);
    expect(response.status).toBe(200);
    return body as T;
  }

  beforeAll(async () => {
    network = await startPrivateNetwork({ accounts: [untouched, genesisMinter()] });
    index = await createMigratedStore(import.meta.filename);
    api = await startApiOver(network, { postgresUrl: index.url, writesIndex: true });
    await untilIndexed(index.store, network.head().id.seqno);
  });
  afterAll(async () => {
    await api.close();
    await index.close();
  });

  it('is told as the zerostate has it, with its code and data', async () => {
    const { accounts } = await ask<{ accounts: Json[] }>('accountStates', `address=${address}`);
    const [live] = [(await api.get(`getAddressInformation?address=${address}`)).body['result'] as Json];
    expect(accounts).toEqual([
      expect.objectContaining({
        address,
        status: 'active',
        balance: String(balance),
        last_transaction_lt: '0',
        last_transaction_hash: Buffer.alloc(32).toString('base64'),
        code_boc: expect.any(String) as string,
        data_boc: expect.any(String) as string,
      }),
    ]);
    expect(live).toMatchObject({ balance: String(balance), state: 'active' });
  });

  it('is a wallet, has a name of its kind, and is among the richest', async () => {
    const { wallets } = await ask<{ wallets: Json[] }>('walletStates', `address=${address}`);
    expect(wallets).toMatchObject([{ address, is_wallet: true, wallet_type: 'wallet v4 r2', seqno: 0 }]);
    const book = await ask<Record<string, Json>>('addressBook', `address=${address}`);
    expect(Object.values(book)).toMatchObject([{ interfaces: ['wallet_v4r2'] }]);
    const top = await ask<Json[]>('topAccountsByBalance', 'limit=1');
    expect(top).toEqual([{ account: address, balance: String(balance) }]);
  });

  it('is told as the contract that it is', async () => {
    const masters = () => ask<{ jetton_masters: Json[] }>('jetton/masters', `address=${minterAddress}`);
    await expect.poll(masters).toMatchObject({
      jetton_masters: [{ address: minterAddress, admin_address: address, total_supply: '0', last_transaction_lt: '0' }],
    });
    const book = await ask<Record<string, Json>>('addressBook', `address=${minterAddress}`);
    expect(Object.values(book)).toMatchObject([{ interfaces: ['jetton_master'] }]);
  });

  it('is there in the masterchain too, where blocks change it', async () => {
    const config = formatRawAddress({ workchain: -1, id: CONFIG_ID }, 'upper');
    const { accounts } = await ask<{ accounts: Json[] }>('accountStates', `address=${config}`);
    expect(accounts).toMatchObject([{ status: 'active' }]);
    expect(accounts[0]!['last_transaction_lt']).not.toBe('0');
  });

  it('is told as its first transaction leaves it', async () => {
    network.send(testWallet(seed).send(0, [transfer(`0:${'22'.repeat(32)}`, 1_000_000_000n)]));
    for (let step = 0; step < 3; step++) await network.step();
    await untilIndexed(index.store, network.head().id.seqno);
    const { accounts } = await ask<{ accounts: Json[] }>('accountStates', `address=${address}`);
    const left = BigInt(String(accounts[0]!['balance']));
    expect(left).toBeLessThan(balance - 1_000_000_000n);
    const { transactions } = await ask<{ transactions: Json[] }>('transactions', `account=${address}`);
    expect(transactions).toMatchObject([
      { account_state_before: { balance: String(balance) }, account_state_after: { balance: String(left) } },
    ]);
  });

  it('is added to an index that was begun without it, and changes nothing that is newer', async () => {
    const states = () =>
      index.store.read('SELECT account, hash, last_trans_lt FROM latest_account_states ORDER BY account');
    const masters = () => index.store.read('SELECT * FROM jetton_masters');
    const before = { states: await states(), masters: await masters() };
    await api.api.close();
    await index.store.transaction(async ({ query }) => {
      await query('DELETE FROM interpretations WHERE mc_seqno = 0');
      await query('DELETE FROM latest_account_states WHERE last_trans_lt = 0');
      await query('DELETE FROM jetton_masters');
    });
    expect(await states()).not.toEqual(before.states);
    api = await startApiOver(network, { postgresUrl: index.url, writesIndex: true });
    await expect.poll(masters).toMatchObject([{ last_trans_lt: 0n }]);
    await untilIndexed(index.store, network.head().id.seqno);
    expect(await states()).toEqual(before.states);
    const { accounts } = await ask<{ accounts: Json[] }>('accountStates', `address=${minterAddress}`);
    expect(accounts).toMatchObject([{ address: minterAddress, status: 'active', last_transaction_lt: '0' }]);
  });
});
