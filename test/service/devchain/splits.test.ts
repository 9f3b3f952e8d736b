import { describe, expect, it, onTestFinished } from 'vitest';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import {
  blocksOf,
  leadTo,
  rewriteAccountBlocks,
  rewriteBlock,
  rewriteMasterchainBlock,
  rewriteMessages,
  rewriteState,
} from '#test/service/decode/tlb/rewriting.ts';
import type { TestWallet } from '#test/support/wallet.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from './money.ts';

/** One account of each quarter of the basechain, and one of the masterchain. */
const receivers = ['00', '50', '90', 'c0'].map((byte) => `0:${byte.padEnd(64, '7')}`);

const VALUE = 1_000_000_000n;

/** Splits the basechain in four and merges it again, with messages in progress all the time. */
async function splitAndMerge(network: PrivateNetwork, faucet: TestWallet): Promise<{ depths: number[]; sent: number }> {
  const depths: number[] = [];
  let sent = 0;
  network.setShardDepth(2);
  for (let step = 0; step < 48; step++) {
    if (step === 24) network.setShardDepth(0);
    if (step % 2 === 0 && step < 44) {
      network.send(
        faucet.send(
          sent++,
          receivers.map((to) => transfer(to, VALUE)),
        ),
      );
    }
    const { block } = await network.step();
    if (depths.at(-1) !== block.shards.length) depths.push(block.shards.length);
  }
  return { depths, sent };
}

describe('a private network that splits and merges', async () => {
  const network = await startPrivateNetwork({
    splitMergeDelaySeconds: 4,
    splitMergeIntervalSeconds: 60,
    genesisUtime: Math.floor(Date.now() / 1000),
  });
  const { depths, sent } = await splitAndMerge(network, testWallet(network.faucet.seed));
  const { chain } = network;
  const blocks = blocksOf(chain);

  it('has two and four shards, and one again', () => {
    expect(depths).toEqual([1, 2, 4, 2, 1]);
  });

  it('delivers every message once', () => {
    const arrivals = blocks
      .filter(({ id }) => id.workchain === 0)
      .flatMap((block) => {
        const boc = chain.parse(block);
        return readBlockTransactions(boc, boc.roots[0]!);
      })
      .filter(({ inMessage }) => inMessage?.info.kind === 'internal');
    const counts = Map.groupBy(arrivals, ({ account }) => `0:${account.toString('hex')}`);
    expect(receivers.map((receiver) => counts.get(receiver)?.length)).toEqual(receivers.map(() => sent));
  });

  it('loses and makes no coin, at any block', () => {
    expect(followMoney(chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('consists of what is written again as it was read', () => {
    const kinds = new Set<string>();
    for (const block of blocks) {
      rewriteBlock(chain, block);
      for (const kind of rewriteMessages(chain, block)) kinds.add(kind);
      rewriteAccountBlocks(chain, block);
      rewriteState(chain.states, block.state, true);
      if (block.previous.length === 1) leadTo(chain, block);
      if (block.id.workchain === MASTERCHAIN) rewriteMasterchainBlock(chain, block);
    }
    expect([...kinds].toSorted()).toEqual(
      expect.arrayContaining(['in:external', 'in:final', 'in:immediate', 'out:dequeuedShort', 'out:new']),
    );
  });

  it('is believed by the service', async () => {
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const answers = await Promise.all(
      receivers.map(async (to) => await api.get(`getTransactions?address=${to}&limit=16`)),
    );
    const counts = answers.map(({ body }) => (body['result'] as unknown[]).length);
    expect(counts).toEqual(receivers.map(() => Math.min(16, sent)));
  });
});
