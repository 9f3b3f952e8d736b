import { describe, expect, it } from 'vitest';

import { overrides } from '#service/emulate/request/overrides.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';

const parameter = overrides('overrides');
const account = (digit: string): string => `0:${digit.repeat(64)}`;

describe('code and data of overridden accounts', () => {
  it('have together as many cells as one account may have', () => {
    // 16,384 leaves have 5,461 cells above them.
    const data = bagWithLeaves(16_384).toString('base64');
    const three = Object.fromEntries(['1', '2', '3'].map((digit) => [account(digit), { data }]));
    expect(parameter.parse(three, 'body')).toHaveLength(3);
    expect(() => parameter.parse({ ...three, [account('4')]: { data } }, 'body')).toThrow(
      `overrides["${account('4')}"].data: The bag has too many cells.`,
    );
  });
});
