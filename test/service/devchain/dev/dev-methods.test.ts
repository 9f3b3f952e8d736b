import { Address, internal } from '@ton/core';
import { describe, expect, it, onTestFinished } from 'vitest';

import { readAccount } from '#service/decode/tlb/account.ts';
import type { DevMethods } from '#service/devchain/dev/dev-methods.ts';
import type { MethodName } from '#service/devchain/dev/method-table.ts';
import { createDevMethods, deliverMessages } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { chainOfCells, exoticBags } from '#test/service/decode/exotic-cells.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { answeringCode, answeringData } from '#test/support/scripted-contract.ts';
import { notQuick } from '#test/support/volume.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from '../money.ts';

type Scene = {
  readonly network: PrivateNetwork;
  readonly call: (method: string, fields?: object) => Promise<Record<string, number>>;
};

async function start(options: PrivateNetworkOptions = {}): Promise<Scene> {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  const methods: DevMethods = createDevMethods({ network, faucet });
  return {
    network,
    call: async (method, fields = {}) => (await methods[method as MethodName]({ ...fields })) as Record<string, number>,
  };
}

function balanceOf(network: PrivateNetwork, address: string): bigint | undefined {
  const { workChain: workchain, hash: id } = Address.parse(address);
  const found = accountAt(network.chain, network.head(), { workchain, id });
  return found && readAccount(network.chain.states, found.account)?.balance.grams;
}

const at = (byte: string, workchain = 0): string => `${workchain}:${byte.repeat(32)}`;

/** Starts an exchange without end between a contract of each chain. */
async function exchange(network: PrivateNetwork): Promise<void> {
  const places = [at('33'), at('33', -1)].map((address) => Address.parse(address));
  const edits = places.map(({ workChain: workchain, hash: id }, own) => {
    const outMsg = internal({ to: places[1 - own]!, value: 1_000_000_000n });
    return putAccount({ workchain, id }, { code: answeringCode, data: answeringData([outMsg]) });
  });
  await network.step(edits);
  network.send(testWallet(network.faucet.seed).send(0, [transfer(places[0]!, 1_000_000_000n)]));
  await network.step();
}

describe('accounts changed by hand', () => {
  it('leave every block with money that adds up, whatever they gain or lose', async () => {
    const { network, call } = await start();
    await call('dev_setBalance', { address: at('11'), balance: '1000000000000' });
    await call('dev_setBalance', { address: at('11', -1), balance: 5_000 });
    await call('dev_setBalance', { address: at('11'), balance: '1' });
    await call('dev_setBalance', { address: at('11', -1), balance: '0' });
    await call('dev_mine', { blocks: 2 });
    expect(balanceOf(network, at('11'))).toBe(1n);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});

describe('code and data set by hand', () => {
  it('may be exotic cells, and are as deep as the network lets contracts have them', async () => {
    const { call } = await start();
    const address = at('11');
    for (const [, bag] of exoticBags) {
      await call('dev_setCode', { address, code: bag.toString('base64') });
      await call('dev_setData', { address, data: bag.toString('base64') });
    }
    const [deepest, deeper] = [512, 513].map((depth) => chainOfCells(depth).toBoc().toString('base64'));
    for (const part of ['code', 'data']) {
      const method = part === 'code' ? 'dev_setCode' : 'dev_setData';
      await expect(call(method, { address, [part]: deeper })).rejects.toThrow('a depth of at most 512, got 513');
      await call(method, { address, [part]: deepest });
    }
    await call('dev_mine', { blocks: 1 });
  });
});

describe('deliverMessages', () => {
  it('makes blocks until a bounced message has come back, and no block where no message is in transit', async () => {
    const { network } = await start();
    const faucet = testWallet(network.faucet.seed);
    const own = (): bigint => balanceOf(network, faucet.address.toRawString())!;
    network.send(faucet.send(0, [transfer(at('22', -1), 5_000_000_000n, true)]));
    await network.step();
    const before = own();
    expect(await deliverMessages(network)).toBe(true);
    expect(own() - before).toBeGreaterThan(4_900_000_000n);
    const { seqno } = network.head().id;
    expect(await deliverMessages(network)).toBe(true);
    expect(network.head().id.seqno).toBe(seqno);
  });

  it(
    'makes 32 blocks and returns false when two contracts answer each other without end, and a snapshot is refused',
    notQuick(),
    async () => {
      const { network, call } = await start();
      await exchange(network);
      const { seqno } = network.head().id;
      expect(await deliverMessages(network)).toBe(false);
      expect(network.head().id.seqno).toBe(seqno + 32);
      await expect(call('dev_snapshot')).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining('messages are still on their way after 32 blocks') as string,
      });
    },
  );
});

describe('a snapshot', () => {
  it('waits for what is on its way, and is gone back to with all money accounted for', async () => {
    const { network, call } = await start();
    const faucet = testWallet(network.faucet.seed);
    network.send(faucet.send(0, [transfer(at('22', -1), 5_000_000_000n)]));
    await network.step();
    const { snapshot } = await call('dev_snapshot');
    expect(balanceOf(network, at('22', -1))).toBe(5_000_000_000n);
    const before = balanceOf(network, faucet.address.toRawString());
    network.send(faucet.send(1, [transfer(at('66', -1), 5_000_000_000n), transfer(at('44'), 1_000_000_000n)]));
    await network.step();
    await call('dev_revert', { snapshot });
    expect(balanceOf(network, faucet.address.toRawString())).toBe(before);
    expect([at('66', -1), at('44')].map((address) => balanceOf(network, address))).toEqual([undefined, undefined]);
    expect(balanceOf(network, at('22', -1))).toBe(5_000_000_000n);
    // The wallet's number of messages is the old one too.
    network.send(faucet.send(1, [transfer(at('44'), 2_000_000_000n)]));
    await network.step();
    expect(balanceOf(network, at('44'))).toBe(2_000_000_000n);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('is gone back to after the basechain was split', async () => {
    const { network, call } = await start({ splitMergeDelaySeconds: 0, splitMergeIntervalSeconds: 100 });
    const [low, high] = [at('05'), at('f5')];
    await call('dev_setBalance', { address: low, balance: '10' });
    const { snapshot } = await call('dev_snapshot');
    network.setShardDepth(1);
    for (let block = 0; network.head().shards.length < 2 && block < 20; block++) await network.step();
    await call('dev_mine', { blocks: 2 });
    expect(network.head().shards).toHaveLength(2);
    await call('dev_setBalance', { address: high, balance: '20' });
    await call('dev_setBalance', { address: low, balance: '30' });
    await call('dev_revert', { snapshot });
    expect([low, high].map((address) => balanceOf(network, address))).toEqual([10n, undefined]);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});
