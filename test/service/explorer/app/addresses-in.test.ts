import { describe, expect, it } from 'vitest';

import { addressesIn, FOUND_MAX } from '#service/explorer/app/addresses-in.ts';

const address = (digit: string): string => `0:${digit.repeat(64)}`;

describe('addresses inside of a value', () => {
  it('are found at every depth, each once, without those of the book', () => {
    const value = { a: address('A'), b: [{ c: address('B') }, address('A'), `x ${address('C')}`], d: address('D') };
    const book = { [address('D')]: { user_friendly: 'EQ', domain: null } };
    expect(addressesIn(value, book)).toEqual([address('A'), address('B')]);
  });

  it('are few, however many the value has', () => {
    const many = Array.from({ length: 1000 }, (_one, at) => `0:${at.toString(16).toUpperCase().padStart(64, '0')}`);
    expect(addressesIn(many, {})).toHaveLength(FOUND_MAX);
  });
});
