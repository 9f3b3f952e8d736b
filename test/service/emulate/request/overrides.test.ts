import { describe, expect, it } from 'vitest';

import { openOverrides, overrides } from '#service/emulate/request/overrides.ts';
import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';

const parameter = overrides('overrides');
const open = (raw: object, timeSlice: TimeSlice = createTimeSlice(undefined)): ReturnType<typeof openOverrides> =>
  openOverrides(parameter.parse(raw, 'body'), timeSlice);
const account = (digit: string): string => `0:${digit.repeat(64)}`;

describe('code and data of overridden accounts', () => {
  it('have together as many cells as one account may have', async () => {
    // 16,384 leaves have 5,461 cells above them.
    const data = bagWithLeaves(16_384).toString('base64');
    const three = Object.fromEntries(['1', '2', '3'].map((digit) => [account(digit), { data }]));
    await expect(open(three)).resolves.toHaveLength(3);
    await expect(open({ ...three, [account('4')]: { data } })).rejects.toThrow(
      `overrides["${account('4')}"].data: The bag has too many cells.`,
    );
  });

  it('are refused by their place when they are no bag in base64', async () => {
    const place = `overrides["${account('1')}"].code`;
    await expect(open({ [account('1')]: { code: 5 } })).rejects.toThrow(`${place}: not a bag of cells in base64`);
    await expect(open({ [account('1')]: { code: 'a%' } })).rejects.toThrow(
      `${place}: invalid base64 encoded bytes: wrong character in the string`,
    );
    await expect(open({ [account('1')]: { code: 'aaaa' } })).rejects.toThrow(`${place}: The bag`);
  });

  it('are read with a pause before each bag and after some thousand cells', async () => {
    let pauses = 0;
    const pause = (): undefined => void pauses++;
    const data = bagWithLeaves(49_152).toString('base64');
    const opened = await open({ [account('1')]: { data } }, { pause });
    expect(opened?.[0]?.data?.size).toBe(65_536);
    // Cells are placed from the first on, and settled from the last on.
    expect(pauses).toBeGreaterThan(2 * Math.floor(65_536 / 4096));
  });
});
