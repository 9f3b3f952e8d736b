import { describe, expect, it } from 'vitest';

import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { traceMeaning, traceMeaningInSlices } from '#service/interpreter/action-rows.ts';
import { openReadable } from '#service/interpreter/traces.ts';
import { classify } from '#service/actions/classify.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { accounts, bareBody, eventTrace, knownWallets } from '#test/support/event-traces.ts';

/** Counts the places where others may run. */
function countedSlice() {
  const counted = { pauses: 0 };
  const timeSlice: TimeSlice = {
    pause() {
      counted.pauses++;
      return undefined;
    },
  };
  return { counted, timeSlice };
}

describe('stored transactions', () => {
  it('are opened with others in between, without those that no reader understands', async () => {
    const { transactions } = assembleTraces((await recordedBlocks()).slice(100, 110).map(rowsOf));
    const stored = transactions.map((one, index) => ({
      ...one,
      boc: index === 1 ? Buffer.from([0]) : Buffer.from(one.boc),
    }));
    expect(stored.length).toBeGreaterThan(2);
    const { counted, timeSlice } = countedSlice();
    const opened = await openReadable(stored, timeSlice);
    expect(opened.map((one) => one.stored)).toEqual(stored.filter((_one, index) => index !== 1));
    expect(counted.pauses).toBe(stored.length);
  });
});

describe('rows of the actions of a trace', () => {
  it('are made with others in between, and are the same', async () => {
    const [wallet, receiver] = accounts(2);
    const steps = Array.from({ length: 40 }, (_, index) => ({ to: receiver, body: bareBody(index + 1) }));
    const trace = eventTrace(wallet, steps);
    const classified = classify(trace, knownWallets({}));
    const { counted, timeSlice } = countedSlice();
    expect(await traceMeaningInSlices(trace, classified, 1, timeSlice)).toEqual(traceMeaning(trace, classified, 1));
    expect(counted.pauses).toBe(40);
  });
});
