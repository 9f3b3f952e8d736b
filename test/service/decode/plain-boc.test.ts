import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { createPlainBocWriter, writePlainBocInSteps } from '#service/decode/plain-boc.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';

describe('writePlainBocInSteps', () => {
  const table = parseBoc(bagWithLeaves(20_000));
  const root = table.roots[0]!;

  it('writes the bag of createPlainBocWriter, which has the cells of the table', () => {
    const whole = createPlainBocWriter(table)(root);
    const steps = writePlainBocInSteps(table, root);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.equals(whole)).toBe(true);
    const written = parseBoc(whole);
    expect([written.size, written.hash(written.roots[0]!)]).toEqual([table.size, table.hash(root)]);
  });

  it('writes at most 4,096 cells in a step', () => {
    const steps = [...writePlainBocInSteps(table, root)];
    expect(steps.length).toBe(Math.ceil(table.size / 4096));
  });
});
