import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { headCandidates, LEAP_BLOCKS_MAX, STUCK_MS } from '#service/pool/head.ts';
import type { TrackedTip } from '#service/pool/head.ts';

/** Returns a tip at `seqno`; `fork` makes another block of the same seqno. */
function tip(seqno: number, change: { changedMs?: number; fork?: number } = {}): TrackedTip {
  const hash = Buffer.alloc(32);
  hash.writeUInt32BE(seqno);
  hash.writeUInt32BE(change.fork ?? 0, 4);
  return {
    block: { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash: hash, fileHash: hash },
    stateRootHash: hash,
    changedMs: change.changedMs ?? 0,
  };
}

function newest(
  tips: TrackedTip[],
  servedSeqno = 0,
  change: { nowMs?: number; unproved?: boolean } = {},
): number | undefined {
  return headCandidates({ tips, servedSeqno, nowMs: change.nowMs ?? 0, unproved: change.unproved ?? false })[0]?.block
    .seqno;
}

describe('candidates for the served head', () => {
  test.each<[string, TrackedTip[], number | undefined]>([
    ['none without tips', [], undefined],
    ['the only tip of one lite server', [tip(10)], 10],
    ['the newer of two', [tip(10), tip(11)], 11],
    ['the second of three', [tip(12), tip(11), tip(3)], 11],
    ['the second of four', [tip(13), tip(12), tip(11), tip(10)], 12],
    ['not the far future of one among three', [tip(4_000_000_000), tip(11), tip(10)], 11],
    ['not a fork that one of three reports', [tip(11, { fork: 1 }), tip(11), tip(11)], 11],
    ['neither of two forks that a third knows nothing of', [tip(11, { fork: 1 }), tip(11), tip(9)], 9],
  ])('the candidates are right: %s', (_name, tips, expected) => {
    expect(newest(tips)).toBe(expected);
  });

  test('no block at or below the served head is a candidate', () => {
    expect(newest([tip(10), tip(9)], 10)).toBe(undefined);
    expect(newest([tip(11), tip(9)], 10)).toBe(11);
  });

  test('the block that most report wins over a fork of the same seqno', () => {
    const [first] = headCandidates({
      tips: [tip(11, { fork: 7 }), tip(11), tip(11)],
      servedSeqno: 10,
      nowMs: 0,
      unproved: false,
    });
    expect(first?.block.rootHash).toEqual(tip(11).block.rootHash);
  });

  test('lite servers whose tip stands still do not count while another one moves', () => {
    const nowMs = STUCK_MS + 1;
    expect(newest([tip(5), tip(5), tip(20, { changedMs: nowMs })], 5, { nowMs })).toBe(20);
    expect(newest([tip(5), tip(5), tip(20)], 4, { nowMs })).toBe(5);
  });

  test('without proofs a leap of a single lite server of two is not accepted', () => {
    expect(newest([tip(10), tip(5_000)], 0, { unproved: true })).toBe(10);
    expect(newest([tip(10), tip(5_000)], 0, { unproved: false })).toBe(5_000);
    expect(newest([tip(10), tip(10 + LEAP_BLOCKS_MAX)], 9, { unproved: true })).toBe(10 + LEAP_BLOCKS_MAX);
  });

  test('every candidate is above the served head and reported by at least half, whatever is reported', () => {
    const tips = fc.array(
      fc.record({ seqno: fc.integer({ min: 1, max: 30 }), fork: fc.nat(2), changedMs: fc.nat(60_000) }),
      { maxLength: 9 },
    );
    fc.assert(
      fc.property(tips, fc.nat(30), fc.boolean(), (drawn, servedSeqno, unproved) => {
        const all = drawn.map(({ seqno, ...change }) => tip(seqno, change));
        const nowMs = 60_000;
        const moving = all.filter(({ changedMs }) => nowMs - changedMs < STUCK_MS);
        const voices = moving.length > 0 ? moving : all;
        const candidates = headCandidates({ tips: all, servedSeqno, nowMs, unproved });
        const seqnos = candidates.map(({ block }) => block.seqno);
        expect(seqnos).toEqual(seqnos.toSorted((a, b) => b - a));
        for (const { block } of candidates) {
          expect(block.seqno).toBeGreaterThan(servedSeqno);
          const having = voices.filter(
            (voice) => voice.block.seqno > block.seqno || voice.block.rootHash.equals(block.rootHash),
          );
          expect(having.length * 2).toBeGreaterThanOrEqual(voices.length);
        }
      }),
      { seed: 11, numRuns: 500 },
    );
  });
});
