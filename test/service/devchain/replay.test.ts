import { describe, expect, it } from 'vitest';

import { blockText } from '#service/decode/block-id.ts';

import { parseBoc } from '#service/decode/boc.ts';
import { readMerkleUpdate } from '#service/decode/merkle.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { openRecording } from '#service/devchain/chain/recording.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { countOf } from '#test/support/volume.ts';
import type { Replayed } from './replay.ts';
import { replay } from './replay.ts';

// Every block of a real node is made again by our collator, on the same state and of the same messages.

/** A quick run makes every 13th block: no period of splits and merges. */
const EVERY = countOf({ quick: 13, full: 1 });

/** What is compared of a block; its update's pruned parts are told apart from what the update does. */
type Verdict = { readonly differing: readonly string[]; readonly isSameFile: boolean };

describe.each(recordingDirs())('blocks of %s, made again by our collator,', (folder) => {
  it('are the same block', async () => {
    const slices = createTimeSlice(undefined);
    const tape = await openRecording(folder, slices);
    const others: string[] = [];
    const counts = { blocks: 0, sameParts: 0, sameFile: 0, transactions: 0, sameTransactions: 0 };
    const late: string[] = [];
    let lateTransactions = 0;
    for await (const one of replay(tape, EVERY)) {
      counts.blocks++;
      const { differing, isSameFile } = compare(one);
      const { total, same } = compareTransactions(one);
      counts.transactions += total;
      counts.sameTransactions += same;
      if (isSameFile) counts.sameFile++;
      if (one.late) {
        late.push(blockText(one.block.id));
        lateTransactions += total;
      }
      if (differing.length === 0) {
        counts.sameParts++;
        continue;
      }
      expect(one.executeAlone()).toEqual([]);
      others.push(`${blockText(one.block.id)}: ${differing.join()}`);
    }
    process.stderr.write(`REPLAY ${folder}: ${JSON.stringify({ ...counts, late, others })}\n`);
    expect(others).toEqual([]);
    // It may not hide that ours makes other transactions: a node that is late makes none.
    expect(lateTransactions).toBe(0);
    expect(counts.sameTransactions).toBe(counts.transactions);
    expect(late.length / counts.blocks).toBeLessThan(0.005);
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
