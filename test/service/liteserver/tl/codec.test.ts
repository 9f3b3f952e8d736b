import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bool,
  bytes,
  int,
  int256,
  long,
  nat,
  string,
  uint,
  ulong,
  vector,
  VECTOR_COUNT_MAX,
} from '#service/liteserver/tl/codec.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { decodeTl, encodeTl, optional, record, union } from '#service/liteserver/tl/record.ts';
import type { Codec } from '#service/liteserver/tl/codec.ts';
import { anyText } from '#test/support/any-text.ts';

const runs = { seed: 20_261_121, numRuns: 300 };

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof TlError) return error.code;
    throw error;
  }
  return 'none';
}

const blob = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));

const claims = (count: number, length: number): Buffer => {
  const claim = Buffer.alloc(length);
  claim.writeUInt32LE(count);
  return claim;
};

const sample = record('sample', 'Sample', {
  mode: nat,
  first: optional(0, bytes),
  tenth: optional(10, vector(int)),
  always: string,
});

describe('primitives read back what they wrote', () => {
  const table: [string, Codec<unknown>, fc.Arbitrary<unknown>][] = [
    ['int', int, fc.integer({ min: -0x80000000, max: 0x7fffffff })],
    ['unsigned int', uint, fc.integer({ min: 0, max: 0xffffffff })],
    ['long', long, fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })],
    ['unsigned long', ulong, fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })],
    ['int256', int256, blob(32)],
    ['Bool', bool, fc.boolean()],
    ['string', string, anyText()],
    ['vector of long', vector(long), fc.array(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }))],
  ];
  it.each(table)('a primitive is read as it was written: %s', (_name, codec, values) => {
    fc.assert(
      fc.property(values, (value) => {
        const encoded = encodeTl(codec, value);
        expect(encoded.length % 4).toBe(0);
        expect(decodeTl(codec, encoded)).toEqual(value);
      }),
      runs,
    );
  });

  it.each([0, 1, 2, 3, 4, 253, 254, 255, 256, 65_535, 0xffffff, 0x1000000])(
    'bytes of length %i are read as they were written',
    (length) => {
      const value = Buffer.alloc(length, 7);
      const encoded = encodeTl(bytes, value);
      const prefix = length < 254 ? 1 : length < 0x1000000 ? 4 : 8;
      expect(encoded.length).toBe(Math.ceil((prefix + length) / 4) * 4);
      expect(encoded.subarray(prefix + length).every((byte) => byte === 0)).toBe(true);
      expect(decodeTl(bytes, encoded).equals(value)).toBe(true);
    },
  );
});

describe('values that their type cannot carry are refused', () => {
  it.each([
    ['int', int, 0x80000000],
    ['int', int, 0.5],
    ['unsigned int', uint, -1],
    ['long', long, 1n << 63n],
    ['unsigned long', ulong, -1n],
    ['int256', int256, Buffer.alloc(31)],
  ] as [string, Codec<unknown>, unknown][])(
    'a value that does not fit its type is refused: %s: %s',
    (_name, codec, value) => {
      expect(codeOf(() => encodeTl(codec, value))).toBe('tl_value');
    },
  );
});

describe('conditional fields', () => {
  it('conditional fields are present exactly with their mode bit, and other bits survive', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.string(), (mode, always) => {
        const value = {
          mode,
          always,
          ...((mode & 1) === 0 ? {} : { first: Buffer.from('x') }),
          ...((mode & 1024) === 0 ? {} : { tenth: [1, -2] }),
        };
        expect(decodeTl(sample, encodeTl(sample, value))).toEqual(value);
      }),
      runs,
    );
  });

  it('conditional fields that contradict the mode are refused', () => {
    expect(codeOf(() => encodeTl(sample, { mode: 1, always: '' }))).toBe('tl_value');
    expect(codeOf(() => encodeTl(sample, { mode: 0, always: '', first: Buffer.alloc(0) }))).toBe('tl_value');
  });
});

describe('bad bytes', () => {
  it('trailing bytes are an error', () => {
    expect(codeOf(() => decodeTl(int, Buffer.alloc(5)))).toBe('tl_trailing');
  });

  it('bytes that end early are an error at every length', () => {
    const whole = encodeTl(sample.boxed, { mode: 1025, first: Buffer.from('abc'), tenth: [1, 2, 3], always: 'text' });
    for (let length = 0; length < whole.length; length++) {
      expect(['tl_truncated', 'tl_count']).toContain(codeOf(() => decodeTl(sample.boxed, whole.subarray(0, length))));
    }
  });

  it('bytes with another id are an error', () => {
    const choice = union('Sample', { sample });
    expect(codeOf(() => decodeTl(sample.boxed, Buffer.alloc(64)))).toBe('tl_unknown_id');
    expect(codeOf(() => decodeTl(choice, Buffer.alloc(64)))).toBe('tl_unknown_id');
    expect(codeOf(() => decodeTl(bool, Buffer.alloc(4)))).toBe('tl_unknown_id');
  });

  it('a vector that claims too many elements is refused before anything is allocated', () => {
    expect(codeOf(() => decodeTl(vector(int), claims(0xffffffff, 4)))).toBe('tl_count');
    expect(codeOf(() => decodeTl(vector(int256), claims(3, 4 + 95)))).toBe('tl_count');
    expect(codeOf(() => decodeTl(vector(int), claims(VECTOR_COUNT_MAX + 1, 4 * (VECTOR_COUNT_MAX + 2))))).toBe(
      'tl_count',
    );
  });

  it('a byte string longer than any buffer is refused', () => {
    expect(codeOf(() => decodeTl(bytes, Buffer.alloc(16, 0xff)))).toBe('tl_truncated');
    expect(codeOf(() => decodeTl(bytes, Buffer.from('feffffff', 'hex')))).toBe('tl_truncated');
  });
});
