import { Address } from '@ton/core';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { createDevMethods, type DevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import { getBlock, getPendingShardBlocks } from '#service/liteserver/functions.ts';
import { openBlockFile } from '#service/live/blocks/block-files.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from './money.ts';

const receiver = Address.parseRaw(`0:${'7'.repeat(64)}`);

async function start(options: PrivateNetworkOptions = {}) {
  const network = await startPrivateNetwork(options);
  onTestFinished(() => network.close());
  const faucet = createFaucet(network.faucet, { ...network, now: () => 0 });
  const methods: DevMethods = createDevMethods({ network, faucet });
  return { network, methods, wallet: testWallet(network.faucet.seed) };
}

const viewOf = (network: PrivateNetwork) => ({
  chain: network.chain,
  tip: network.head().id.seqno,
  nowSeconds: 0,
  signed: network.shardBlocks.signed(),
});

/** Answers that need neither messages nor get-methods. */
const noTools = {} as Parameters<typeof answerQuery>[2];

function pendingBlocks(
  network: PrivateNetwork,
  place?: { readonly workchain: number; readonly shard: bigint },
): readonly BlockId[] {
  const args = place === undefined ? { mode: 0 } : { mode: 1, ...place };
  const answer = answerQuery(viewOf(network), getPendingShardBlocks.encode(args), noTools);
  return getPendingShardBlocks.decode(answer).signedBlocks;
}

const shardTops = (network: PrivateNetwork): readonly BlockId[] => network.head().shards.map(({ block }) => block);

function balanceOf(network: PrivateNetwork, { workChain: workchain, hash: id }: Address): bigint | undefined {
  const { chain } = network;
  const found = accountAt(chain, network.head(), { workchain, id });
  return found && readAccount(chain.states, found.account)?.balance.grams;
}

const moneyFaults = ({ chain }: PrivateNetwork) => followMoney(chain).filter(({ due, found }) => due !== found);

describe('signed shard blocks', () => {
  it('are named and read as whole files before the next masterchain block takes them in', async () => {
    const { network, methods, wallet } = await start({ minSplit: 0 });
    network.send(wallet.send(0, [transfer(receiver, 5n)]));
    await methods.dev_signShardBlocks({});
    const [signed, ...more] = pendingBlocks(network);
    expect(more).toEqual([]);
    const { data } = getBlock.decode(answerQuery(viewOf(network), getBlock.encode({ id: signed! }), noTools));
    expect(openBlockFile(signed!, { id: signed!, data }).previous).toEqual(shardTops(network));
    expect(pendingBlocks(network, { workchain: -1, shard: 1n << 63n })).toEqual([]);
    expect(pendingBlocks(network, { workchain: 0, shard: 1n << 63n })).toEqual([signed]);
    expect(network.waiting).toBe(1);
    await network.step();
    expect(shardTops(network)).toEqual([signed]);
    expect(pendingBlocks(network)).toEqual([]);
    expect(network.waiting).toBe(0);
    expect(balanceOf(network, receiver)).toBe(5n);
    await network.step();
    expect(moneyFaults(network)).toEqual([]);
  });

  it('are replaced by others of the same seqno, and their messages wait again', async () => {
    const { network, methods, wallet } = await start();
    network.send(wallet.send(0, [transfer(receiver, 5n)]));
    await methods.dev_signShardBlocks({});
    const [first] = pendingBlocks(network);
    await methods.dev_signShardBlocks({ externals: false });
    const [second] = pendingBlocks(network);
    expect(second!.seqno).toBe(first!.seqno);
    expect(second!.rootHash).not.toEqual(first!.rootHash);
    await network.step();
    expect(shardTops(network)).toEqual([second]);
    expect(network.waiting).toBe(1);
    await network.step();
    await network.step();
    expect(balanceOf(network, receiver)).toBe(5n);
    expect(moneyFaults(network)).toEqual([]);
  });

  it('wait while masterchain blocks leave them out, and go in afterwards', async () => {
    const { network, methods, wallet } = await start();
    network.send(wallet.send(0, [transfer(receiver, 5n)]));
    await methods.dev_signShardBlocks({});
    await methods.dev_holdShardBlocks({});
    const tops = shardTops(network);
    const signed = pendingBlocks(network);
    await methods.dev_mine({ blocks: 3 });
    expect(shardTops(network)).toEqual(tops);
    expect(pendingBlocks(network)).toEqual(signed);
    await methods.dev_holdShardBlocks({ hold: false });
    await network.step();
    expect(shardTops(network)).toEqual(signed);
    await network.step();
    expect(balanceOf(network, receiver)).toBe(5n);
    expect(moneyFaults(network)).toEqual([]);
  });

  it('go into a snapshot, and a revert makes others in their place', async () => {
    const { network, methods, wallet } = await start();
    network.send(wallet.send(0, [transfer(receiver, 5n)]));
    await methods.dev_signShardBlocks({});
    await methods.dev_holdShardBlocks({});
    await methods.dev_snapshot({ name: 'five' });
    expect(balanceOf(network, receiver)).toBe(5n);
    network.send(wallet.send(1, [transfer(receiver, 7n)]));
    await methods.dev_signShardBlocks({});
    const signed = pendingBlocks(network);
    await methods.dev_holdShardBlocks({});
    await methods.dev_revert({ snapshot: 'five' });
    expect(shardTops(network)).not.toEqual(signed);
    expect(pendingBlocks(network)).toEqual([]);
    expect(balanceOf(network, receiver)).toBeGreaterThanOrEqual(5n);
    expect(moneyFaults(network)).toEqual([]);
  });

  it('are of both halves when a shard splits, and are made again when the plan of shards changes', async () => {
    const { network, methods } = await start({
      minSplit: 1,
      maxSplit: 2,
      splitMergeDelaySeconds: 1,
      splitMergeIntervalSeconds: 100,
      genesisUtime: 1_790_000_000,
    });
    for (let block = 0; block < 12; block++) {
      await network.advance(1);
      await methods.dev_signShardBlocks({});
      if (block % 3 === 0) {
        await methods.dev_holdShardBlocks({});
        await network.advance(2);
        await methods.dev_holdShardBlocks({ hold: false });
      }
    }
    await network.step();
    expect(shardTops(network)).toHaveLength(2);
    expect(moneyFaults(network)).toEqual([]);
  });
});
