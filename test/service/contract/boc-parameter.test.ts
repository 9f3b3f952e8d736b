import { describe, expect, it } from 'vitest';

import { flawOfBody, flawOfState } from '#service/contract/boc-parameter.ts';
import { headOf } from '#test/support/bag-head.ts';

describe('a part of a message from outside', () => {
  it.each([flawOfBody, flawOfState])('of more than 8,192 cells is refused by its head', (flawOf) => {
    expect(flawOf(headOf(8193), 'body')).toBe('INVALID_BAG_OF_CELLS: bodyThe bag has too many cells.');
    // The zeros in place of the cells are equal cells without data.
    expect(flawOf(headOf(8192), 'body')).toBeUndefined();
  });
});
