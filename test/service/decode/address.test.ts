import { Address } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFriendlyAddress, formatRawAddress, parseAddress } from '#service/decode/address.ts';

const account = fc.record({
  workchain: fc.integer({ min: -128, max: 127 }),
  id: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
});
const style = fc.record({ bounceable: fc.boolean(), testOnly: fc.boolean(), urlSafe: fc.boolean() });

describe('addresses', () => {
  it('addresses are spelled as @ton/core spells them, and read back', () => {
    fc.assert(
      fc.property(account, style, (value, spelling) => {
        const core = new Address(value.workchain, value.id);
        const friendly = formatFriendlyAddress(value, spelling);
        expect(friendly).toBe(core.toString(spelling));
        expect(parseAddress(friendly)).toEqual({
          ...value,
          form: 'friendly',
          bounceable: spelling.bounceable,
          testOnly: spelling.testOnly,
        });
        expect(formatRawAddress(value)).toBe(core.toRawString());
        expect(parseAddress(formatRawAddress(value, 'upper'))).toEqual({
          ...value,
          form: 'raw',
          bounceable: true,
          testOnly: false,
        });
      }),
      { seed: 10, numRuns: 300 },
    );
  });

  it('an address with one character changed is refused', () => {
    fc.assert(
      fc.property(account, fc.nat(47), fc.nat(62), (value, at, by) => {
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        const friendly = formatFriendlyAddress(value);
        const other = alphabet[(alphabet.indexOf(friendly[at]!) + 1 + by) % 64]!;
        expect(parseAddress(friendly.slice(0, at) + other + friendly.slice(at + 1))).toBeUndefined();
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  it('an address may mix both alphabets', () => {
    const id = Buffer.alloc(32, 0xfb);
    const standard = formatFriendlyAddress({ workchain: 0, id }, { urlSafe: false });
    const mixed = standard.replace('+', '-');
    expect(mixed).not.toBe(standard);
    expect(parseAddress(mixed)?.id).toEqual(id);
  });

  const hex = 'ab'.repeat(32);
  it.each([
    ['the lowest workchain', `-2147483648:${hex}`, -2147483648],
    ['the highest workchain', `2147483647:${hex}`, 2147483647],
    ['upper case', `-1:${hex.toUpperCase()}`, -1],
  ])('a raw address is read: %s', (_, text, workchain) => {
    expect(parseAddress(text)).toEqual({
      workchain,
      id: Buffer.from(hex, 'hex'),
      form: 'raw',
      bounceable: true,
      testOnly: false,
    });
  });

  it.each([
    ['nothing', ''],
    ['bare hex', hex],
    ['a workchain of 33 bits', `2147483648:${hex}`],
    ['one digit less', `0:${hex.slice(1)}`],
    ['one digit more', `0:${hex}a`],
    ['no digits', `0:${'zz'.repeat(32)}`],
    ['spaces around', ` 0:${hex} `],
    ['a plus sign', `+0:${hex}`],
    ['a line end', `0:${hex}\n`],
    ['padding', `${formatFriendlyAddress({ workchain: 0, id: Buffer.alloc(32) }).slice(0, 47)}=`],
    ['another tag', Buffer.concat([Buffer.from([0x12]), Buffer.alloc(35)]).toString('base64')],
  ])('the address %s is refused', (_, text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});
