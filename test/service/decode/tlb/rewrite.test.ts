import { describe, expect, it } from 'vitest';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import {
  blocksOf,
  leadTo,
  rewriteAccountBlocks,
  rewriteBlock,
  rewriteMasterchainBlock,
  rewriteMessages,
  rewriteState,
} from './rewriting.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { spreadOf } from '#test/support/volume.ts';

// Reads and writes every structure of every recorded block and state again: it must become the same cell.

/** Blocks between full rebuilds of the dictionaries of states, because they repeat. */
const STATE_STEP = 25;
const UPDATE_STEP = 7;

for (const folder of recordingDirs()) {
  describe(`what ${folder.split('/').at(-1)} consists of, read and written again,`, async () => {
    const chain = await recordedChain(folder);
    const whole = blocksOf(chain);
    const blocks = spreadOf(whole, 300);

    it('headers, value flows, extras and blocks are the same', () => {
      for (const block of blocks) rewriteBlock(chain, block);
      expect(whole.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('message descriptors are the same, with the same fees and values over them', () => {
      const kinds = new Set<string>();
      for (const block of blocks) for (const kind of rewriteMessages(chain, block)) kinds.add(kind);
      expect([...kinds].toSorted()).toEqual(
        expect.arrayContaining(['in:external', 'in:final', 'in:immediate', 'out:new']),
      );
    });

    it('account blocks are the same', () => {
      for (const block of blocks) rewriteAccountBlocks(chain, block);
      expect(whole.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('masterchain extras, shards and shard fees are the same', () => {
      for (const block of blocks) if (block.id.workchain === MASTERCHAIN) rewriteMasterchainBlock(chain, block);
      expect(whole.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('states, queues and accounts are the same', () => {
      const { states } = chain;
      blocks.forEach(({ state }, index) => rewriteState(states, state, index % STATE_STEP === 0));
      expect(whole.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('the states are the results of computed updates', () => {
      blocks.forEach((block, index) => {
        if (index % UPDATE_STEP === 0 && block.previous.length === 1) leadTo(chain, block);
      });
      expect(whole.length).toBeGreaterThan(chain.lastSeqno);
    });
  });
}
