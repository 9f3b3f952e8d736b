import { describe, expect, it } from 'vitest';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { loadChain } from '#service/devchain/devchain.ts';
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

// Every structure of every recorded block and state is read and written again: it must become the same cell.

/** Dictionaries of states are rebuilt whole in every so many blocks only: they repeat. */
const STATE_STEP = 25;
const UPDATE_STEP = 7;

for (const folder of recordingDirs()) {
  describe(`what ${folder.split('/').at(-1)} consists of, read and written again,`, async () => {
    const chain = await loadChain(folder);
    const blocks = blocksOf(chain);

    it('are the same headers, value flows, extras and blocks', () => {
      for (const block of blocks) rewriteBlock(chain, block);
      expect(blocks.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('are the same message descriptors with the same fees and values over them', () => {
      const kinds = new Set<string>();
      for (const block of blocks) for (const kind of rewriteMessages(chain, block)) kinds.add(kind);
      expect([...kinds].toSorted()).toEqual(
        expect.arrayContaining(['in:external', 'in:final', 'in:immediate', 'out:new']),
      );
    });

    it('are the same account blocks', () => {
      for (const block of blocks) rewriteAccountBlocks(chain, block);
      expect(blocks.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('are the same masterchain extras, shards and shard fees', () => {
      for (const block of blocks) if (block.id.workchain === MASTERCHAIN) rewriteMasterchainBlock(chain, block);
      expect(blocks.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('are the same states, queues and accounts', () => {
      const { states } = chain;
      blocks.forEach(({ state }, index) => rewriteState(states, state, index % STATE_STEP === 0));
      expect(blocks.length).toBeGreaterThan(chain.lastSeqno);
    });

    it('are states that our updates lead to', () => {
      blocks.forEach((block, index) => {
        if (index % UPDATE_STEP === 0 && block.previous.length === 1) leadTo(chain, block);
      });
      expect(blocks.length).toBeGreaterThan(chain.lastSeqno);
    });
  });
}
