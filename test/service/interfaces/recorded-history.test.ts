import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { formatRawAddress, parseAddress } from '#service/decode/address.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import { readChangedAccount } from '#service/interfaces/account-code.ts';
import { createDetector, type Detected } from '#service/interfaces/detector.ts';
import { accountKey, accountOfKey } from '#service/store/account-key.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { chainWorld } from './chain-world.ts';

// The project's own recording; its README lists its events.
const folder = join(import.meta.dirname, '../../vectors/realnet');
const recorded = JSON.parse(readFileSync(join(folder, 'accounts.json'), 'utf8')) as Record<string, { address: string }>;

const { tvm } = startTvm();
const detector = createDetector({ network: 'custom' }, { register: new Registry() });
let chain: Chain;

beforeAll(async () => {
  chain = await recordedChain(folder);
});
afterAll(() => tvm.close());

/** Detects an account after a masterchain block, with keys of accounts as their labels. */
async function at(seqno: number, label: string): Promise<Detected | undefined> {
  const world = chainWorld(chain, tvm, { seqno });
  return detector.detect(world, await readChangedAccount(world, parseAddress(recorded[label]!.address)!));
}

const keyOf = (label: string): Buffer => accountKey(parseAddress(recorded[label]!.address)!);

/** Returns the label of an account in a row; null for none. */
function nameOf(key: Uint8Array | null): string | null {
  return key && (Object.keys(recorded).find((label) => keyOf(label).equals(key)) ?? 'another');
}

describe('over the recorded chain', () => {
  it.each([
    [150, undefined],
    [160, 1_000_000_000_000n],
    [170, 899_500_000_000n],
    [178, 906_500_000_000n],
    [184, 856_500_000_000n],
    [1000, 856_475_000_000n],
  ])('after block %i the jetton wallet of w3 has %s', async (seqno, balance) => {
    expect((await at(seqno, 'jetton_wallet_w3'))?.jettonWallet?.balance).toBe(balance);
  });

  it.each([
    [157, 1_000_000_000_000n],
    [166, 2_319_000_000_000n],
    [188, 2_269_000_000_000n],
  ])('after block %i there are %s units of the jetton', async (seqno, supply) => {
    const master = (await at(seqno, 'jetton_minter'))?.jettonMaster;
    expect(master).toMatchObject({ total_supply: supply, admin: keyOf('faucet'), content: { symbol: 'RNJ' } });
  });

  it.each([
    [320, undefined],
    [374, 1_000_000_000n],
    [379, 999_876_544n],
    [1000, 999_875_767n],
  ])('after block %i the wallet of w7, whose code is a library, has %s', async (seqno, balance) => {
    expect((await at(seqno, 'stable_wallet_w7'))?.jettonWallet?.balance).toBe(balance);
  });

  it.each([
    [285, 'nft_0', undefined],
    [290, 'nft_0', 'w5'],
    [309, 'nft_0', 'w6'],
    [300, 'nft_1', 'w1'],
    [306, 'nft_1', 'w8'],
    [308, 'nft_2', 'w2'],
  ])('after block %i the item %s belongs to %s', async (seqno, label, owner) => {
    const item = (await at(seqno, label))?.nftItem;
    expect(item && nameOf(item.owner)).toBe(owner);
  });

  it.each([
    [420, undefined, null, null],
    [425, null, null, null],
    [584, 'w4', 'w4', null],
    [587, 'w4', 'w4', 'site'],
  ])(
    'after block %i realnet-example.ton is of %s, for the wallet %s and the site %s',
    async (seqno, owner, wallet, site) => {
      const entry = (await at(seqno, 'dns_item'))?.dnsEntry;
      const shown = entry && [
        entry.domain,
        nameOf(entry.nft_item_owner),
        nameOf(entry.wallet),
        entry.site_adnl !== null,
      ];
      expect(shown).toEqual(owner === undefined ? undefined : ['realnet-example.ton', owner, wallet, site !== null]);
    },
  );

  it.each([
    [380, undefined],
    [383, 0n],
    [388, 1n],
    [398, 2n],
  ])('after block %i the next order of the multisig is %s', async (seqno, next) => {
    const multisig = (await at(seqno, 'multisig'))?.multisig;
    expect(multisig?.next_order_seqno).toBe(next);
    const names = multisig && [multisig.threshold, multisig.signers.map(nameOf), multisig.proposers.map(nameOf)];
    expect(names).toEqual(next === undefined ? undefined : [2, ['w1', 'w4', 'w8'], ['w2']]);
  });

  it.each([
    [386, 'ms_order_0', undefined],
    [388, 'ms_order_0', [1, 1n, false]],
    [391, 'ms_order_0', [2, 3n, true]],
    [398, 'ms_order_1', [0, 0n, false]],
    [402, 'ms_order_1', [1, 4n, false]],
  ])('after block %i the order %s has %o', async (seqno, label, expected) => {
    const order = (await at(seqno, label))?.multisigOrder;
    const shown = order && [order.approvals_num, order.approvals_mask, order.sent_for_execution];
    expect([shown, order && nameOf(order.multisig)]).toEqual([expected, expected && 'multisig']);
  });

  it.each([
    [400, undefined],
    [404, 0],
    [410, 1],
  ])('after block %i the vesting contract has a whitelist of %s', async (seqno, length) => {
    const vesting = (await at(seqno, 'vesting'))?.vestingContract;
    expect(vesting?.whitelist.length).toBe(length);
    expect(vesting?.owner).toEqual(length === undefined ? undefined : keyOf('w11'));
  });

  it('accounts in rows read back unchanged', async () => {
    const wallet = (await at(1000, 'jetton_wallet_w3'))!.jettonWallet!;
    expect(formatRawAddress(accountOfKey(wallet.owner))).toBe(recorded['w3']!.address);
    expect(formatRawAddress(accountOfKey(wallet.jetton))).toBe(recorded['jetton_minter']!.address);
  });
});
