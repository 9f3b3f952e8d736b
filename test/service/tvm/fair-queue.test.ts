import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '#service/tvm/fair-queue.ts';

const anyone = (): boolean => true;

describe('a fair queue', () => {
  it('serves its callers in turn, each in its own order', () => {
    const queue = createFairQueue<string>(10);
    for (const entry of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(entry[0]!, entry);
    const served = Array.from({ length: 7 }, () => queue.shift(anyone));
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  });

  it('passes over callers that may not run', () => {
    const queue = createFairQueue<string>(10);
    for (const entry of ['a1', 'b1']) queue.push(entry[0]!, entry);
    expect(queue.shift((caller) => caller !== 'a')).toBe('b1');
    expect(queue.shift((caller) => caller !== 'a')).toBeUndefined();
    expect(queue.length).toBe(1);
  });

  it('loses and doubles nothing, and never holds more than its bound', () => {
    const act = fc.record({ kind: fc.constantFrom('push', 'shift', 'remove'), caller: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (acts, lengthMax) => {
        const queue = createFairQueue<number>(lengthMax);
        const held = new Map<number, string>();
        const faults: string[] = [];
        const check = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
        for (const [number, { kind, caller }] of acts.entries()) {
          const isFull = held.size >= lengthMax;
          const [own] = [...held].find(([, owner]) => owner === caller) ?? [];
          if (kind === 'push') {
            check(queue.push(caller, number) === !isFull, 'pushed beyond the bound, or refused below it');
            if (!isFull) held.set(number, caller);
          } else if (kind === 'shift') {
            const entry = queue.shift(anyone);
            check(entry === undefined ? held.size === 0 : held.delete(entry), 'shifted what was not held');
          } else {
            check(queue.remove(caller, own ?? -1) === (own !== undefined), 'removed what was not held');
            if (own !== undefined) held.delete(own);
          }
          check(queue.length === held.size, 'counted wrong');
        }
        expect(faults).toEqual([]);
        expect(queue.clear().toSorted((a, b) => a - b)).toEqual([...held.keys()]);
      }),
      { seed: 20261121, numRuns: 200 },
    );
  });
});
