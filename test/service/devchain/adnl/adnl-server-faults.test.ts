import { randomBytes } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { delayMsOf } from '#service/devchain/adnl/adnl-server-faults.ts';

describe('the delay of an answer', () => {
  test('is none, or always the same', () => {
    expect(delayMsOf({}, randomBytes(32))).toBe(0);
    expect(delayMsOf({ delayMs: 80 }, randomBytes(32))).toBe(80);
  });

  test('is lognormal: half below the median, a sixth above one sigma, the same for the same query', () => {
    const faults = { delayMs: { medianMs: 50, sigma: 1 } };
    const ids = Array.from({ length: 20_000 }, (_, index) => {
      const id = Buffer.alloc(32);
      // Well spread over both halves: odd multipliers walk through all 32-bit numbers.
      id.writeUInt32LE(Math.imul(index + 1, 0x9e3779b1) >>> 0, 0);
      id.writeUInt32LE(Math.imul(index + 1, 0x85ebca6b) >>> 0, 4);
      return id;
    });
    const delays = ids.map((id) => delayMsOf(faults, id));
    const part = (least: number): number => delays.filter((delay) => delay > least).length / delays.length;
    expect(part(50)).toBeCloseTo(0.5, 1);
    expect(part(50 * Math.E)).toBeCloseTo(0.159, 1);
    expect(part(50 * Math.E ** 2)).toBeCloseTo(0.023, 1);
    expect(delays.every((delay) => Number.isFinite(delay) && delay > 0)).toBe(true);
    expect(delayMsOf(faults, ids[7]!)).toBe(delays[7]);
  });

  test('is a number for every id', () => {
    const faults = { delayMs: { medianMs: 50, sigma: 1 } };
    expect(Number.isFinite(delayMsOf(faults, Buffer.alloc(32)))).toBe(true);
    expect(Number.isFinite(delayMsOf(faults, Buffer.alloc(32, 0xff)))).toBe(true);
  });
});
