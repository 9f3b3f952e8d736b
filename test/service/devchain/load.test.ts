import { afterAll, describe, expect, it } from 'vitest';

import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { isRefusal } from '#service/devchain/chain/errors.ts';
import { validatorKey } from '#service/devchain/chain/signing.ts';
import { genesisWallet } from '#service/devchain/zerostate/wallet.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { blocksOf, rewriteBlock, rewriteMessages, rewriteState } from '#test/service/decode/tlb/rewriting.ts';
import { followMoney } from './money.ts';
import { countOf } from '#test/support/volume.ts';

const WALLETS = 500;
const ROUNDS = countOf({ quick: 2, full: 8, long: 20 });
const VALUE = 1_000_000_000n;

/** Fewer than the messages of one round bring: blocks are full, and messages wait in the shard's own queue. */
const TRANSACTIONS_MAX = 400;

describe('a private network with more messages than its blocks hold', async () => {
  const seeds = Array.from({ length: WALLETS }, (_, index) => Buffer.alloc(32, `${index} `));
  const network = await startPrivateNetwork({
    accounts: seeds.map((seed) => genesisWallet(validatorKey(seed).publicKey, 1000n * VALUE)),
    transactionsMax: TRANSACTIONS_MAX,
  });
  afterAll(() => network.close());
  const wallets = seeds.map(testWallet);
  const included: string[] = [];
  const rejected: string[] = [];
  network.onOutcome((_, outcome) => {
    if (outcome.kind === 'included') included.push(outcome.transaction.toString('hex'));
    else rejected.push(outcome.error);
  });
  const refused: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    wallets.forEach((wallet, index) => {
      const to = index % 5 === 0 ? `-1:${'44'.repeat(32)}` : wallets[(index + 7) % WALLETS]!.address;
      const message = wallet.send(round, [transfer(to, VALUE)]);
      // Every tenth is sent twice, every seventh is of a round that is not there yet.
      const all = [
        message,
        ...(index % 10 === 0 ? [message] : []),
        ...(index % 7 === 0 ? [wallet.send(ROUNDS + 9, [])] : []),
      ];
      for (const one of all) {
        try {
          network.send(one);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          refused.push(error.message);
        }
      }
    });
    while (network.waiting > 0) await network.step();
  }
  for (let step = 0; step < 12; step++) await network.step();
  const { chain } = network;
  const blocks = blocksOf(chain);

  it('takes every message that it accepted, once, and refuses the others with a reason', () => {
    expect([included.length, new Set(included).size]).toEqual([WALLETS * ROUNDS, WALLETS * ROUNDS]);
    expect(rejected).toEqual([]);
    const reasons = Map.groupBy(refused, (text) => (text.includes('duplicate') ? 'duplicate' : 'exit'));
    expect([...reasons.keys()].toSorted()).toEqual(['duplicate', 'exit']);
    expect(reasons.get('duplicate')?.length).toBe(ROUNDS * Math.ceil(WALLETS / 10));
    expect(reasons.get('exit')?.every((text) => text.includes('exitcode=33'))).toBe(true);
  });

  it('delivers all that they sent on', () => {
    const arrived = blocks.flatMap((block) => {
      const boc = chain.parse(block);
      return readBlockTransactions(boc, boc.roots[0]!).filter(
        ({ inMessage }) => inMessage?.info.kind === 'internal' && inMessage.info.value.grams === VALUE,
      );
    });
    expect(arrived.length).toBe(WALLETS * ROUNDS);
  });

  it('has full blocks, queues and no coin too many', () => {
    const kinds = new Set(blocks.flatMap((block) => rewriteMessages(chain, block)));
    expect([...kinds]).toEqual(expect.arrayContaining(['out:new', 'out:dequeuedImmediately', 'out:dequeuedShort']));
    for (const block of blocks) {
      rewriteBlock(chain, block);
      rewriteState(chain.states, block.state, false);
    }
    expect(followMoney(chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});
