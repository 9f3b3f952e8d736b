import { describe, expect, it, onTestFinished } from 'vitest';

import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { storeValidatorSet } from '#service/decode/tlb/validator-set.ts';
import { editAccount, editConfig } from '#service/devchain/chain/edit-builders.ts';
import { stateOf } from '#service/devchain/chain/chain.ts';
import type { AccountEdit } from '#service/devchain/collator/state-edits.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { describeValidator, validatorKey } from '#service/devchain/chain/signing.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { blocksTakenBy, followMoney } from './money.ts';

const elector = `-1:${'33'.repeat(32)}`;

async function start(options?: PrivateNetworkOptions): Promise<PrivateNetwork> {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  return network;
}

function balanceOf(network: PrivateNetwork, workchain: number, id: Buffer): bigint | undefined {
  const { chain } = network;
  const { states } = chain;
  const top = network.head();
  const home = workchain === -1 ? top.state : stateOf(chain, top.shards[0]!.block)!;
  const found = findShardAccount(states, readShardState(states, home).accounts, id);
  return found && readAccount(states, found.account)?.balance.grams;
}

async function steps(network: PrivateNetwork, count: number): Promise<void> {
  for (let step = 0; step < count; step++) await network.step();
}

describe('a private network', () => {
  it.each<[number, 'ordinary' | 'simplex']>([
    [1, 'ordinary'],
    [4, 'ordinary'],
    [21, 'ordinary'],
    [1, 'simplex'],
    [4, 'simplex'],
  ])('with %i validators and %s signatures is believed from its zerostate on', async (validators, consensus) => {
    const network = await start({ validators, consensus, genesisUtime: Math.floor(Date.now() / 1000) });
    await steps(network, 3);
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const id = network.faucet.id.toString('hex');
    const { status, body } = await api.get(`getAddressInformation?address=0:${id}`);
    expect([status, body]).toMatchObject([200, { ok: true, result: { state: 'active' } }]);
    const transactions = await api.get(`getTransactions?address=${elector}&limit=3`);
    expect(transactions).toMatchObject({ status: 200, body: { ok: true } });
    expect((transactions.body['result'] as unknown[]).length).toBe(3);
  });

  it('is the same bytes whenever it is started from the same things', async () => {
    const [one, other] = [await start(), await start()];
    await steps(one, 3);
    await steps(other, 3);
    expect(one.head().id).toEqual(other.head().id);
  });

  it('carries value between accounts, chains and back', async () => {
    const network = await start();
    const faucet = testWallet(network.faucet.seed);
    const before = balanceOf(network, 0, faucet.id)!;
    const [friend, stranger] = ['ab', 'cd'].map((byte) => Buffer.alloc(32, byte, 'hex'));
    network.send(
      faucet.send(0, [
        transfer(`0:${'ab'.repeat(32)}`, 5_000_000_000n),
        transfer(`-1:${'cd'.repeat(32)}`, 6_000_000_000n),
        transfer(`-1:${'ef'.repeat(32)}`, 7_000_000_000n, true),
      ]),
    );
    await steps(network, 4);
    expect(balanceOf(network, 0, friend!)).toBe(5_000_000_000n);
    expect(balanceOf(network, -1, stranger!)).toBe(6_000_000_000n);
    // What nobody took came back, less the ways.
    const spent = before - balanceOf(network, 0, faucet.id)!;
    expect(spent).toBeGreaterThan(11_000_000_000n);
    expect(spent).toBeLessThan(11_100_000_000n);
    expect(network.waiting).toBe(0);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('refuses what no contract accepts, in the words of the node', async () => {
    const network = await start();
    const faucet = testWallet(network.faucet.seed);
    const id = network.faucet.id.toString('hex').toUpperCase();
    expect(() => network.send(faucet.send(7, []))).toThrow(
      'cannot apply external message to current state : External message was not accepted\n' +
        `Cannot run message on account: inbound external message rejected by transaction ${id}:\n` +
        'exitcode=33, steps=23, gas_used=908\nVM Log (truncated):\n...',
    );
    expect(network.waiting).toBe(0);
  });

  it('lets an account deploy itself', async () => {
    const network = await start();
    const faucet = testWallet(network.faucet.seed);
    const wallet = testWallet(Buffer.alloc(32, 9));
    network.send(faucet.send(0, [transfer(wallet.address, 1_000_000_000n)]));
    await network.step();
    network.send(wallet.send(0, [transfer(faucet.address, 1n)], { deploy: true }));
    const { block } = await network.step();
    const all = blocksTakenBy(network.chain, block).flatMap((one) => {
      const boc = network.chain.parse(one);
      return readBlockTransactions(boc, boc.roots[0]!);
    });
    const deploy = all.find(({ account, originalStatus }) => account.equals(wallet.id) && originalStatus === 'uninit');
    expect(deploy?.endStatus).toBe('active');
  });

  it.each<[string, 'ordinary' | 'simplex']>([
    ['ordinary', 'ordinary'],
    ['simplex', 'simplex'],
  ])('is believed across changes of its validators, with %s signatures', async (_, consensus) => {
    const network = await start({ validators: 4, consensus, genesisUtime: Math.floor(Date.now() / 1000) });
    for (let round = 1; round <= 3; round++) {
      await network.step([newValidators(network, round)]);
      await steps(network, 2);
    }
    const [first, ...changes] = network.chain.keyBlocks;
    expect([first, changes.length]).toEqual([1, 3]);
    const sets = changes.map((seqno) => network.chain.masterchain(seqno + 1)!.header);
    expect(new Set(sets.map(({ validatorListHashShort }) => validatorListHashShort)).size).toBe(3);
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const { status, body } = await api.get(`getAddressInformation?address=${elector}`);
    expect([status, body]).toMatchObject([200, { ok: true, result: { state: 'active' } }]);
  });

  it('has what a developer puts into it, and counts it', async () => {
    const network = await start();
    const id = Buffer.alloc(32, 0x77);
    await network.step([editAccount({ workchain: 0, id }, () => ({ balance: 42_000_000_000n }))]);
    expect(balanceOf(network, 0, id)).toBe(42_000_000_000n);
    await network.step([editAccount({ workchain: 0, id }, () => ({ balance: 2_000_000_000n }))]);
    expect(balanceOf(network, 0, id)).toBe(2_000_000_000n);
    const elected = Buffer.alloc(32, 0x33);
    await network.step([editAccount({ workchain: -1, id: elected }, () => ({ balance: 90_000_000_000n }))]);
    expect(balanceOf(network, -1, elected)).toBeGreaterThan(90_000_000_000n);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});

/** Other keys sign from the block after this edit on. */
function newValidators(network: PrivateNetwork, round: number): AccountEdit {
  const keys = Array.from({ length: round + 1 }, (_, index) => validatorKey(Buffer.alloc(32, round * 32 + index)));
  network.validatorKeys.push(...keys);
  return editConfig((states) => {
    const list = keys.map((key, index) => describeValidator(key, BigInt(1 + index)));
    const term = { utimeSince: 0, utimeUntil: 0xffff_ffff };
    return new Map([[34, storeValidatorSet(states, { ...term, main: list.length, list })]]);
  });
}
