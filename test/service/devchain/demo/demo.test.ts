import { createHash } from 'node:crypto';

import { Address, Cell } from '@ton/core';
import * as wallets from '@ton/ton';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Demo } from '#service/devchain/demo/demo.ts';
import { createDemo } from '#service/devchain/demo/demo.ts';
import { WALLET_CODES } from '#service/devchain/demo/wallet-codes.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { followMoney } from '../money.ts';
import type { ApiUnderTest } from '#test/support/api.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';

let network: PrivateNetwork;
let demo: Demo;
let api: Omit<ApiUnderTest, 'network'>;

beforeAll(async () => {
  network = await startPrivateNetwork({ genesisUtime: Math.floor(Date.now() / 1000) - 100 });
  demo = await createDemo(network);
  api = await startApiOver(network);
});
afterAll(() => api.close());

async function ask<T>(path: string): Promise<T> {
  const { status, body } = await api.get(path);
  expect([path, status, body]).toMatchObject([path, 200, { ok: true }]);
  return body['result'] as T;
}

async function runMethod(name: string, method: string): Promise<unknown[][]> {
  const { status, body } = await api.post('runGetMethod', { address: demo[name], method, stack: [] });
  expect([status, body]).toMatchObject([200, { ok: true, result: { exit_code: 0 } }]);
  return (body['result'] as { stack: unknown[][] }).stack;
}

const raw = (friendly: string): string => Address.parse(friendly).toRawString();

const versions = Object.entries({
  v1r1: wallets.WalletContractV1R1,
  v1r2: wallets.WalletContractV1R2,
  v1r3: wallets.WalletContractV1R3,
  v2r1: wallets.WalletContractV2R1,
  v2r2: wallets.WalletContractV2R2,
  v3r1: wallets.WalletContractV3R1,
  v3r2: wallets.WalletContractV3R2,
  v4r2: wallets.WalletContractV4,
  v5r1: wallets.WalletContractV5R1,
} as const);

describe('a network with its demonstration', () => {
  it.each(versions)(
    'has a wallet %s with the code that @ton/ton has, which has sent and received',
    async (version, kind) => {
      const { init } = kind.create({ workchain: 0, publicKey: Buffer.alloc(32) });
      expect(WALLET_CODES[version as keyof typeof WALLET_CODES]).toBe(init.code.toBoc().toString('base64'));
      const address = demo[`wallet ${version}`]!;
      const wallet = await ask<Record<string, unknown>>(`getWalletInformation?address=${address}`);
      expect(wallet).toMatchObject({ wallet: true, account_state: 'active' });
      expect(String(wallet['wallet_type'])).toContain(version.replace(/^v(\d)(r\d)$/, 'v$1'));
      const listed = await ask<unknown[]>(`getTransactions?address=${address}&limit=20`);
      expect(listed.length).toBeGreaterThanOrEqual(2);
    },
  );

  it('has a jetton that was issued, sent and burned', async () => {
    const minter = await ask<Record<string, unknown>>(`getTokenData?address=${demo['jetton minter']}`);
    expect(minter).toMatchObject({
      contract_type: 'jetton_master',
      total_supply: '1004900000000000',
      mintable: true,
      jetton_content: { type: 'onchain', data: { symbol: 'DEMO', decimals: '9', name: 'Tonplane Demo Jetton' } },
    });
    const own = await ask<Record<string, unknown>>(`getTokenData?address=${demo['jetton wallet']}`);
    expect(own).toMatchObject({ contract_type: 'jetton_wallet', balance: '999657000000000' });
    expect(raw(String(own['owner']))).toBe(demo['wallet v4r2']);
  });

  it('has a collection whose first item was given away', async () => {
    const collection = await ask<Record<string, unknown>>(`getTokenData?address=${demo['NFT collection']}`);
    expect(collection).toMatchObject({ contract_type: 'nft_collection', next_item_index: '2' });
    const item = await ask<Record<string, unknown>>(`getTokenData?address=${demo['NFT item']}`);
    expect(item).toMatchObject({ contract_type: 'nft_item', init: true, index: '0' });
    expect(raw(String(item['owner_address']))).toBe(demo['wallet v5r1']);
    expect(raw(String(item['collection_address']))).toBe(demo['NFT collection']);
  });

  it('has a domain that leads to a wallet', async () => {
    const resolved = await ask<{ entries: unknown[] }>(
      `dnsResolve?address=${demo['DNS root']}&name=tonplane.ton&ttl=5`,
    );
    const { entry, category } = resolved.entries[0] as { category: string; entry: Record<string, unknown> };
    expect(category).toBe(createHash('sha256').update('wallet').digest('base64'));
    expect(entry['@type']).toBe('dns.entryDataSmcAddress');
    const { account_address: found } = entry['smc_address'] as { account_address: string };
    expect(raw(found)).toBe(demo['wallet v4r2']);
    const named = await ask<Record<string, unknown>>(`getTokenData?address=${demo['domain tonplane.ton']}`);
    expect(named).toMatchObject({ contract_type: 'nft_item', init: true, content: { domain: 'tonplane.ton' } });
  });

  it('has a multisig with an order that waits for its second signer', async () => {
    const [next, threshold] = await runMethod('multisig', 'get_multisig_data');
    expect([next, threshold]).toEqual([
      ['num', '0x1'],
      ['num', '0x2'],
    ]);
    const { body } = await api.post('runGetMethod', {
      address: demo['multisig'],
      method: 'get_order_address',
      stack: [['num', '0x0']],
    });
    const [[, cell]] = (body['result'] as { stack: [[string, { bytes: string }]] }).stack;
    const order = Cell.fromBase64(cell.bytes).beginParse().loadAddress();
    const told = await api.post('runGetMethod', { address: order.toRawString(), method: 'get_order_data', stack: [] });
    const { exit_code: exitCode, stack: entries } = told.body['result'] as {
      exit_code: number;
      stack: [string, unknown][];
    };
    // Seqno 0, of two signers one approved, not sent yet.
    expect([exitCode, entries[1], entries[2], entries[3]]).toEqual([0, ['num', '0x0'], ['num', '0x2'], ['num', '0x0']]);
  });

  it('has a vesting wallet whose money is locked', async () => {
    const [[, start], [, duration]] = (await runMethod('vesting wallet', 'get_vesting_data')) as [string, string][] as [
      [string, string],
      [string, string],
    ];
    expect(Number(start)).toBeGreaterThan(1_700_000_000);
    expect(Number(duration)).toBe(864_000);
  });

  it('adds up, and is the same wherever it is made', async () => {
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
    const other = await startPrivateNetwork({ genesisUtime: 1_790_000_000 });
    const again = await startPrivateNetwork({ genesisUtime: 1_790_000_000 });
    expect(await createDemo(other)).toEqual(await createDemo(again));
    expect(other.head().id).toEqual(again.head().id);
    const first = await createDemo(other);
    for (let blocks = 0; blocks < 3; blocks++) await other.step();
    const seqno = other.head().id.seqno;
    // As when a network that is kept goes on: nothing is made, and all of it is found where it is.
    expect(await createDemo(other)).toEqual(first);
    expect(other.head().id.seqno).toBe(seqno);
    await other.close();
    await again.close();
  });
});
