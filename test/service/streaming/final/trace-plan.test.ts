import { describe, expect, it } from 'vitest';

import type { FoundTrace } from '#service/store/queries/traces.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import { needsCount, openBounds, planTraces, type OpenBounds } from '#service/streaming/final/trace-plan.ts';
import { createDraw } from '#test/support/draw.ts';

/** Blocks of the transactions of a trace, ascending. */
type Timeline = { readonly blocks: readonly number[]; readonly ends: boolean };

const id = Buffer.alloc(32, 7);

function transactionsOf({ blocks }: Timeline): readonly FoundTransaction[] {
  return blocks.map((mc_seqno, at) => ({
    hash: Buffer.from(String(at).padStart(32, '0')),
    lt: BigInt(mc_seqno) * 1000n + BigInt(at % 1000),
    account: Buffer.alloc(33),
    mc_seqno,
    trace_id: id,
  })) as unknown as readonly FoundTransaction[];
}

function rowOf({ blocks, ends }: Timeline): FoundTrace {
  const state = ends ? 0 : 1;
  return {
    trace_id: id,
    state,
    nodes: blocks.length,
    mc_seqno_start: blocks[0]!,
    mc_seqno_end: blocks.at(-1)!,
  } as unknown as FoundTrace;
}

/** Plan of a block by what the index knows at its end: `until` blocks of the timeline are there. */
function planOf(timeline: Timeline, mcSeqno: number, until: number, bounds: OpenBounds = openBounds) {
  const known = {
    blocks: timeline.blocks.filter((one) => one <= until),
    ends: timeline.ends && until >= timeline.blocks.at(-1)!,
  };
  const row = rowOf(known);
  const transactions = transactionsOf(known);
  const fresh = transactions.filter((one) => one.mc_seqno === mcSeqno);
  const isDue = row.mc_seqno_start === mcSeqno - bounds.blocks - 1;
  const count = {
    trace_id: id,
    before: known.blocks.filter((one) => one < mcSeqno).length,
    through: known.blocks.filter((one) => one <= mcSeqno).length,
  };
  const traces = fresh.length > 0 || isDue ? [row] : [];
  const counts = needsCount(row, mcSeqno, bounds) ? [count] : [];
  const [plan] = planTraces({ mcSeqno, transactions: fresh, traces, counts }, bounds);
  return plan && { stage: plan.stage, earlier: plan.earlier, fresh: plan.fresh.length, isWhole: plan.isWhole };
}

/** Stages written from the rule, with everything before the block at hand. */
function expectedStage({ blocks, ends }: Timeline, mcSeqno: number, bounds: OpenBounds): string | undefined {
  const [start, end] = [blocks[0]!, ends ? blocks.at(-1)! : Infinity];
  const until = (seqno: number): number => blocks.filter((one) => one <= seqno).length;
  const isLong = (seqno: number): boolean =>
    seqno < end && seqno >= start && (seqno - start > bounds.blocks || until(seqno) > bounds.transactions);
  const hadPortion = Array.from({ length: mcSeqno - start }, (_, at) => start + at).some(isLong);
  if (mcSeqno > end) return undefined;
  if (mcSeqno === end) return hadPortion ? 'last' : 'whole';
  const isTouched = blocks.includes(mcSeqno);
  if (hadPortion) return isTouched ? 'next' : undefined;
  if (isLong(mcSeqno)) return 'first';
  return isTouched ? 'open' : undefined;
}

describe('the changes of a trace over its blocks', () => {
  it('are one whole change in the block where a short trace ends, and open ones before', () => {
    const timeline = { blocks: [10, 11, 11, 13], ends: true };
    expect(planOf(timeline, 10, 10)).toEqual({ stage: 'open', earlier: 0, fresh: 1, isWhole: false });
    expect(planOf(timeline, 11, 12)).toEqual({ stage: 'open', earlier: 0, fresh: 2, isWhole: false });
    expect(planOf(timeline, 12, 12)).toBeUndefined();
    expect(planOf(timeline, 13, 13)).toEqual({ stage: undefined, earlier: 3, fresh: 1, isWhole: true });
  });

  it('are portions from the 33rd block after the root on', () => {
    const timeline = { blocks: [10, 20, 42, 50, 60], ends: true };
    expect(planOf(timeline, 42, 42)).toMatchObject({ stage: 'open' });
    expect(planOf(timeline, 43, 43)).toEqual({ stage: 'first', earlier: 3, fresh: 0, isWhole: true });
    expect(planOf(timeline, 50, 50)).toMatchObject({ stage: 'next', fresh: 1 });
    expect(planOf(timeline, 60, 60)).toEqual({ stage: 'last', earlier: 4, fresh: 1, isWhole: true });
    expect(planOf({ blocks: [10, 42], ends: true }, 42, 42)).toMatchObject({ stage: undefined });
    expect(planOf({ blocks: [10, 43], ends: true }, 43, 43)).toMatchObject({ stage: undefined });
    expect(planOf({ blocks: [10, 44], ends: true }, 44, 44)).toMatchObject({ stage: 'last' });
  });

  it('are portions once a trace has more than a thousand transactions', () => {
    const blocks = [...Array<number>(600).fill(10), ...Array<number>(401).fill(11), ...Array<number>(4000).fill(12)];
    const timeline = { blocks, ends: false };
    expect(planOf(timeline, 10, 12)).toMatchObject({ stage: 'open', fresh: 600 });
    expect(planOf(timeline, 11, 12)).toMatchObject({ stage: 'first', earlier: 600, fresh: 401 });
    expect(planOf(timeline, 12, 12)).toMatchObject({ stage: 'next', fresh: 4000 });
    // After portions v3 shows a trace of this size without its transactions.
    expect(planOf({ blocks, ends: true }, 12, 12)).toMatchObject({ stage: 'last', earlier: 0, isWhole: false });
  });

  it('follow the rule, whatever the index knows beyond the block', () => {
    const draw = createDraw(43);
    const bounds = { blocks: 4, transactions: 5 };
    const seen = new Map<string | undefined, number>();
    for (let run = 0; run < 3000; run++) {
      const count = 1 + draw(9);
      const blocks = Array.from({ length: count }, () => 10 + draw(14)).toSorted((a, b) => a - b);
      const timeline = { blocks, ends: draw(4) > 0 };
      for (let mcSeqno = 10; mcSeqno < 26; mcSeqno++) {
        const wanted = mcSeqno < blocks[0]! ? undefined : expectedStage(timeline, mcSeqno, bounds);
        for (const until of [mcSeqno, mcSeqno + 1 + draw(5), 100]) {
          const plan = mcSeqno < blocks[0]! ? undefined : planOf(timeline, mcSeqno, until, bounds);
          expect([timeline, mcSeqno, until, plan && (plan.stage ?? 'whole')]).toEqual([
            timeline,
            mcSeqno,
            until,
            wanted,
          ]);
        }
        seen.set(wanted, (seen.get(wanted) ?? 0) + 1);
      }
    }
    expect(new Set(seen.keys())).toEqual(new Set(['first', 'last', 'next', 'open', 'whole', undefined]));
  });
});
