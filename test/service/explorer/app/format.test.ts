import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  formatAge,
  formatTime,
  formatTon,
  formatUnits,
  hashToHex,
  safeText,
  shorten,
} from '#service/explorer/app/format.ts';
import { anyText } from '#test/support/any-text.ts';

describe('an amount on a page', () => {
  it('has every digit of its units, for each number of decimals', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
        fc.integer({ min: 0, max: 255 }),
        (units, decimals) => {
          const text = formatUnits(units, decimals);
          const [whole = '', fraction = ''] = text.replaceAll('\u202f', '').replace('\u2212', '-').split('.');
          const back = BigInt(`${whole.replace('-', '')}${fraction.padEnd(decimals, '0')}`);
          expect(whole.startsWith('-') ? -back : back).toBe(units);
        },
      ),
    );
  });

  it('has groups of three digits and no zeros at its end', () => {
    expect(formatTon('1234567500000000')).toBe('1\u202f234\u202f567.5');
    expect(formatTon('0')).toBe('0');
    expect(formatTon('1')).toBe('0.000000001');
    expect(formatTon('-1500000000')).toBe('\u22121.5');
  });

  it('is a whole number where a token names impossible decimals', () => {
    expect(formatUnits('12', -1)).toBe('12');
    expect(formatUnits('12', 1e9)).toBe('12');
    expect(formatUnits('12', Number.NaN)).toBe('12');
  });
});

describe('a hash that somebody pasted', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

  it('is read in hexadecimal, also after 0x, and in both alphabets of base64', () => {
    fc.assert(
      fc.property(bytes, (hash) => {
        const hex = Buffer.from(hash).toString('hex');
        const base64 = Buffer.from(hash).toString('base64');
        const forms = [
          hex,
          hex.toUpperCase(),
          `0x${hex}`,
          `0x${hex.toUpperCase()}`,
          `0X${hex}`,
          base64,
          base64.replace('=', ''),
          Buffer.from(hash).toString('base64url'),
        ];
        for (const form of forms) expect(hashToHex(form)).toBe(hex);
      }),
    );
  });

  it('is refused in any other length or alphabet', () => {
    const hex = 'ab'.repeat(32);
    const others = [
      '',
      'ab',
      'g'.repeat(64),
      'A'.repeat(48),
      `${'A'.repeat(42)}==`,
      '?'.repeat(44),
      '0x',
      `0x0x${hex}`,
    ];
    for (const text of [...others, `0x${hex}a`, `0x${hex.slice(1)}`, `x${hex}`])
      expect(hashToHex(text)).toBeUndefined();
  });
});

describe('a text of a contract on a page', () => {
  // oxlint-disable-next-line no-control-regex
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

  it('has no control character and no mark that turns its direction', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(hidden.test(safeText(text))).toBe(false);
      }),
    );
    expect(safeText('a\u202egpj.exe')).toBe('a\ufffdgpj.exe');
  });

  it('is cut at its bound', () => {
    expect(safeText('x'.repeat(10_000), 10)).toBe(`${'x'.repeat(10)}…`);
    expect(safeText('short', 10)).toBe('short');
  });
});

describe('a time on a page', () => {
  it('is shown in UTC beside the local time', () => {
    expect(formatTime(1_795_841_766).utc).toBe('2026-11-28 04:56:06 UTC');
    expect(formatTime(Number.NaN)).toEqual({ local: '–', utc: '–' });
  });

  it('has its age in the largest unit that fits', () => {
    const ages = [0, 59, 60, 3599, 3600, 86_399, 86_400].map((seconds) => formatAge(1000, (1000 + seconds) * 1000));
    expect(ages).toEqual(['0 s', '59 s', '1 min', '59 min', '1 h', '23 h', '1 d']);
    expect(formatAge(2000, 1000)).toBe('0 s');
  });
});

it('a long word keeps its beginning and its end', () => {
  expect(shorten('EQAbcdefghijklmnop', 4, 3)).toBe('EQAb…nop');
  expect(shorten('short', 4, 3)).toBe('short');
});
