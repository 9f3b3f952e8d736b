import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { messageGraph, shuffledBatches } from './message-graphs.ts';
import { createStoredTraces, tablesOf } from './stored-traces.ts';

describe('traces of batches', () => {
  it('are joined to the same tables whatever the batches and their order', () => {
    const cases = messageGraph.chain((blocks) => fc.tuple(fc.constant(blocks), shuffledBatches(blocks)));
    fc.assert(
      fc.property(cases, ([blocks, batches]) => {
        const stored = createStoredTraces();
        for (const batch of batches) stored.begin(batch)();
        expect(stored.tables()).toEqual(tablesOf(assembleTraces(blocks)));
      }),
      { seed: 9, numRuns: 1500 },
    );
  });

  it('are joined to the same tables when writers look before others have finished', () => {
    const cases = messageGraph.chain((blocks) =>
      fc.tuple(fc.constant(blocks), shuffledBatches(blocks), fc.array(fc.nat({ max: 3 }), { minLength: 12 })),
    );
    fc.assert(
      fc.property(cases, ([blocks, batches, delays]) => {
        const stored = createStoredTraces();
        const waiting: (() => void)[] = [];
        batches.forEach((batch, index) => {
          waiting.push(stored.begin(batch));
          // Some begin while others have looked and not joined yet.
          while (waiting.length > (delays[index] ?? 0)) waiting.splice(waiting.length >> 1, 1)[0]!();
        });
        for (const join of waiting) join();
        expect(stored.tables()).toEqual(tablesOf(assembleTraces(blocks)));
      }),
      { seed: 10, numRuns: 1500 },
    );
  });
});
