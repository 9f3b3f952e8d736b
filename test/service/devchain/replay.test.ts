import { describe, expect, it } from 'vitest';

import { MASTERCHAIN, blockText } from '#service/decode/block-id.ts';

import { parseBoc } from '#service/decode/boc.ts';
import { readMerkleUpdate } from '#service/decode/merkle.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { ChainBlock, GrowingChain } from '#service/devchain/chain.ts';
import { stateOf } from '#service/devchain/chain.ts';
import { createSlices } from '#service/devchain/slices.ts';
import { readTape } from '#service/devchain/tape.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { blocksTakenBy } from './money.ts';
import type { Replayed } from './replay.ts';
import { replay } from './replay.ts';

// Every block of a real node is made again by our collator, on the same state and of the same messages.

/** Why a block of ours is another one than the node's. */
const REASONS = {
  deferred: 'the node defers the eleventh and later messages of one account in a block; ours delivers them at once',
  outOfTime:
    'the node ran out of time before it looked at the messages in queues: its list of processed ones is as before',
  severalBlocks: 'the masterchain block takes in two blocks of a shard at once, which a network of ours never makes',
  waves:
    'when the node took messages from outside that came while it made the block cannot be told from the block for sure',
} as const;

/** What is compared of a block; its update's pruned parts are told apart from what the update does. */
type Verdict = { readonly differing: readonly string[]; readonly isSameFile: boolean };

describe.each(recordingDirs())('blocks of %s, made again by our collator,', (folder) => {
  it('are the same block, but for those that have a reason', async () => {
    const slices = createSlices(() => performance.now());
    const tape = await readTape(folder, slices);
    const unexplained: string[] = [];
    const counts = { blocks: 0, sameParts: 0, sameFile: 0, transactions: 0, sameTransactions: 0, aloneWrong: 0 };
    const reasons: Record<string, number> = {};
    for await (const one of replay(tape)) {
      counts.blocks++;
      const verdict = compare(one);
      const { total, same } = compareTransactions(one);
      counts.transactions += total;
      counts.sameTransactions += same;
      if (verdict.isSameFile) counts.sameFile++;
      if (verdict.differing.length === 0) {
        counts.sameParts++;
        continue;
      }
      counts.aloneWrong += one.executeAlone().length;
      const reason = reasonOf(one.chain, one.block, verdict.differing);
      if (reason === undefined) unexplained.push(`${blockText(one.block.id)}: ${verdict.differing.join()}`);
      else reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
    process.stderr.write(`REPLAY ${folder}: ${JSON.stringify({ ...counts, reasons })}\n`);
    expect(unexplained).toEqual([]);
    expect(counts.aloneWrong).toBe(0);
    expect(counts.sameParts / counts.blocks).toBeGreaterThan(0.98);
    expect(counts.sameFile / counts.blocks).toBeGreaterThan(0.5);
  }, 600_000);
});

function compare({ chain, block, made }: Replayed): Verdict {
  if (made instanceof Error) return { differing: [`no block: ${made.message}`], isSameFile: false };
  const [theirs, ours] = [chain.parse(block), parseBoc(made.bytes)];
  const [a, b] = [readBlock(theirs, theirs.roots[0]!), readBlock(ours, ours.roots[0]!)];
  const [extraA, extraB] = [readBlockExtra(theirs, a.extra), readBlockExtra(ours, b.extra)];
  const isSame = (one: number | undefined, other: number | undefined): boolean =>
    one === undefined || other === undefined ? one === other : theirs.hash(one).equals(ours.hash(other));
  const differing = [
    ...(['info', 'valueFlow'] as const).filter((part) => !isSame(a[part], b[part])),
    ...(['inMsgDescr', 'outMsgDescr', 'accountBlocks', 'custom'] as const).filter(
      (part) => !isSame(extraA[part], extraB[part]),
    ),
    ...(extraA.randSeed.equals(extraB.randSeed) && extraA.createdBy.equals(extraB.createdBy) ? [] : ['extra']),
  ];
  const [updateA, updateB] = [readMerkleUpdate(theirs, a.stateUpdate), readMerkleUpdate(ours, b.stateUpdate)];
  if (!updateA.oldHash.equals(updateB.oldHash) || !updateA.newHash.equals(updateB.newHash))
    differing.push('stateUpdate');
  return { differing, isSameFile: made.bytes.equals(block.bytes) };
}

/** Transactions of the recorded block that are in ours too. */
function compareTransactions({ chain, block, made }: Replayed): { readonly total: number; readonly same: number } {
  const theirs = chain.parse(block);
  const all = readBlockTransactions(theirs, theirs.roots[0]!);
  if (made instanceof Error) return { total: all.length, same: 0 };
  const ours = parseBoc(made.bytes);
  const hashes = new Set(
    readBlockTransactions(ours, ours.roots[0]!).map(({ cell }) => ours.hash(cell).toString('hex')),
  );
  return { total: all.length, same: all.filter(({ cell }) => hashes.has(theirs.hash(cell).toString('hex'))).length };
}

function reasonOf(
  chain: GrowingChain,
  block: ChainBlock,
  differing: readonly string[],
): keyof typeof REASONS | undefined {
  const { states } = chain;
  const queueAfter = (state: number) => readOutMsgQueueInfo(states, readShardState(states, state).outMsgQueueInfo);
  const [before, after] = [stateOf(chain, block.previous[0]!)!, block.state].map(queueAfter);
  if (before!.dispatch !== undefined || after!.dispatch !== undefined) return 'deferred';
  if (block.id.workchain === MASTERCHAIN) {
    const isLong = blocksTakenBy(chain, block).length > 1 + block.shards.length;
    return isLong && differing.join() === 'stateUpdate' ? 'severalBlocks' : undefined;
  }
  const isQueueLeft = before!.queue !== undefined && before!.queue === after!.queue;
  if (before!.processed === after!.processed || isQueueLeft) return 'outOfTime';
  const boc = chain.parse(block);
  const outside = readBlockTransactions(boc, boc.roots[0]!).filter(
    ({ inMessage }) => inMessage?.info.kind === 'externalIn',
  );
  return outside.some(({ lt }) => lt > block.header.startLt + 1n) ? 'waves' : undefined;
}
