import { setTimeout as wait } from 'node:timers/promises';

import { Address } from '@ton/core';
import { describe, expect, it, onTestFinished } from 'vitest';

import { readAccount } from '#service/decode/tlb/account.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createDevRpc } from '#service/devchain/dev/dev-rpc.ts';
import { fundInTime } from '#service/devchain/dev/fund.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

const address = `0:${'77'.repeat(32)}`;

async function start(options: PrivateNetworkOptions = {}) {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  const rpc = createDevRpc(createDevMethods({ network, faucet }));
  const call = async (method: string, params: object = {}) => {
    const answer = await rpc(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })));
    return JSON.parse(answer) as { result?: Record<string, unknown>; error?: { message: string } };
  };
  return { network, faucet, call, wallet: testWallet(network.faucet.seed) };
}

function balanceOf(network: PrivateNetwork, text = address): bigint | undefined {
  const { workChain: workchain, hash: id } = Address.parse(text);
  const found = accountAt(network.chain, network.head(), { workchain, id });
  return found && readAccount(network.chain.states, found.account)?.balance.grams;
}

describe('a hold of shard blocks', () => {
  it.each([{}, { blockPerMessage: true }])('ends with dev_fund, which pays, in a network of %j', async (options) => {
    const { network, call } = await start(options);
    await call('dev_holdShardBlocks');
    await expect(call('dev_fund', { address, amount: 2 })).resolves.toMatchObject({ result: { amount: '2000000000' } });
    expect(balanceOf(network)).toBe(2_000_000_000n);
    expect(network.shardBlocks.isHeld()).toBe(false);
  });

  it('ends with each change by hand', async () => {
    const { network, call } = await start();
    const changes: [string, object][] = [
      ['dev_setBalance', { address, balance: '5000000000' }],
      ['dev_sendInternal', { from: address, to: `0:${'78'.repeat(32)}`, amount: 1, bounce: false }],
      ['dev_setConfig', { parameter: -5 }],
    ];
    for (const [method, params] of changes) {
      await call('dev_holdShardBlocks');
      expect(await call(method, params)).toHaveProperty('result');
      expect([method, network.shardBlocks.isHeld()]).toEqual([method, false]);
    }
  });

  it('makes one block for a message, which arrives after the hold', async () => {
    const { network, call, wallet } = await start({ blockPerMessage: true });
    await call('dev_holdShardBlocks');
    const { seqno } = network.head().id;
    network.send(wallet.send(0, [transfer(address, 5n)]));
    await expect.poll(() => network.head().id.seqno).toBe(seqno + 1);
    await wait(400);
    expect(network.head().id.seqno).toBe(seqno + 1);
    expect(network.waiting).toBe(1);
    await call('dev_holdShardBlocks', { hold: false });
    await expect.poll(() => balanceOf(network)).toBe(5n);
  });

  it('refuses the faucet, which names it and pays nothing later', async () => {
    const { network, faucet, call } = await start();
    await call('dev_holdShardBlocks');
    for (const makesBlocks of [true, false]) {
      await expect(fundInTime({ network, faucet }, { address, amount: 1 }, makesBlocks)).rejects.toMatchObject({
        code: 'faucet_paused',
        message: expect.stringContaining('dev_holdShardBlocks holds the shard blocks') as string,
      });
    }
    await call('dev_holdShardBlocks', { hold: false });
    await call('dev_mine', { blocks: 2 });
    expect(balanceOf(network)).toBe(undefined);
  });
});

describe('a delay of blocks', () => {
  it('does not stop dev_fund, and refuses the faucet with the time', async () => {
    const { network, faucet, call } = await start({ blockPerMessage: true });
    await call('dev_delayBlocks', { seconds: 60 });
    await expect(call('dev_fund', { address, amount: 2 })).resolves.toHaveProperty('result');
    await expect(fundInTime({ network, faucet }, { address, amount: 1 }, false)).rejects.toMatchObject({
      code: 'faucet_paused',
      data: { retryAfterSeconds: network.delayedSeconds() },
    });
    await call('dev_delayBlocks', { seconds: 0 });
    await expect(fundInTime({ network, faucet }, { address, amount: 1 }, false)).resolves.toHaveProperty('seqno');
  });
});

describe('a transfer that the action phase leaves out', () => {
  it('is an error of dev_fund and of dev_sendInternal', async () => {
    const { network, call } = await start();
    await call('dev_setBalance', { address, balance: '5000000000' });
    // Without the list of workchains no address is valid.
    await call('dev_setConfig', { parameter: 12 });
    const other = `0:${'78'.repeat(32)}`;
    const { error } = await call('dev_fund', { address: other, amount: 1 });
    expect(error?.message).toBe('the faucet cannot send: the action phase left the transfer out');
    const sent = await call('dev_sendInternal', { from: address, to: other, amount: 1 });
    expect(sent.error?.message).toMatch(/^the message cannot be sent: the action phase ended with code \d+$/);
    expect(balanceOf(network, other)).toBe(undefined);
    expect(balanceOf(network)).toBe(5_000_000_000n);
  });
});
