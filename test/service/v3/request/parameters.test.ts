import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readParameters, type Parameter, type Parameters } from '#service/contract/parameter.ts';
import { crc16, formatFriendlyAddress, formatRawAddress } from '#service/decode/address.ts';
import {
  account,
  accounts,
  bool,
  hash,
  hashes,
  int32,
  lt,
  nullableAccount,
  opcode,
  paging,
  shard,
  texts,
  utime,
  windows,
  word,
} from '#service/v3/request/parameters.ts';
import { v3QuerySource } from '#service/v3/request/query-source.ts';
import { required, requiredList } from '#service/v3/request/required-parameters.ts';
import { anyText } from '#test/support/any-text.ts';

const seed = 20_261_121;

/** What a query says of parameters, or the text that refuses it. */
function read(parameters: Parameters, query: string): unknown {
  try {
    return readParameters(parameters, v3QuerySource(new URLSearchParams(query)));
  } catch (error) {
    return (error as Error).message;
  }
}

/** One value given to a parameter named `x`. */
function readOne(parameter: Parameter<unknown>, value: string): unknown {
  const found = read({ x: parameter }, `x=${encodeURIComponent(value)}`);
  return typeof found === 'string' ? found : (found as { x: unknown }).x;
}

const refused = 'failed to decode: schema: error converting value for "x"';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

/** Every form in which a hash is taken. */
function formsOf(bytes: Buffer): string[] {
  return [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    `0x${bytes.toString('hex')}`,
    bytes.toString('base64'),
    `${bytes.toString('base64url')}=`,
  ];
}

/** Whether the document takes a value. */
const isIn = ({ input }: Parameter<unknown>, value: string): boolean =>
  new RegExp(String(input.schema['pattern'])).test(value);

describe('a hash', () => {
  it('is the same in each of its forms', () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        for (const form of formsOf(bytes)) expect(readOne(hash('x'), form)).toEqual(bytes);
      }),
      { seed },
    );
  });

  it.each([
    ['base64url without padding', Buffer.alloc(32, 7).toString('base64url')],
    ['31 bytes of hex', '07'.repeat(31)],
    ['33 bytes of hex', '07'.repeat(33)],
    ['a plus that was not escaped, which is a space', ` ${'A'.repeat(42)}=`],
    ['text', 'hash'],
  ])('is not %s', (_what, value) => {
    expect(readOne(hash('x'), value)).toBe(refused);
  });
});

describe('an address', () => {
  const address = fc.record({ workchain: fc.integer({ min: -128, max: 127 }), id: bytes32 });

  it('is the same raw and friendly, with any flags and either alphabet', () => {
    fc.assert(
      fc.property(address, fc.boolean(), fc.boolean(), fc.boolean(), (given, bounceable, testOnly, urlSafe) => {
        const friendly = formatFriendlyAddress(given, { bounceable, testOnly, urlSafe });
        const raw = [formatRawAddress(given, 'upper'), formatRawAddress(given, 'lower')];
        for (const form of [friendly, ...raw]) expect(readOne(account('x'), form)).toEqual(given);
      }),
      { seed },
    );
  });

  it('may have a tag of any value, not a wrong checksum', () => {
    const bytes = Buffer.from(formatFriendlyAddress({ workchain: 0, id: Buffer.alloc(32, 1) }), 'base64url');
    bytes[0] = 0x2a;
    expect(readOne(account('x'), bytes.toString('base64url'))).toBe(refused);
    bytes.writeUInt16BE(crc16(bytes.subarray(0, 34)), 34);
    expect(readOne(account('x'), bytes.toString('base64url'))).toEqual({ workchain: 0, id: Buffer.alloc(32, 1) });
  });

  it.each(['0:00', '0'.repeat(64), '0:', 'null', 'addr_none'])('is not %s', (value) => {
    expect(readOne(account('x'), value)).toBe(refused);
  });

  it('of a message may be null, the side that is outside', () => {
    expect(readOne(nullableAccount('x'), 'null')).toBe('null');
    expect(readOne(nullableAccount('x'), 'NULL')).toBe(refused);
  });
});

describe('numbers', () => {
  it('of shards are hex first, then signed decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(readOne(shard('x'), value.toString(16))).toBe(value);
        expect(readOne(shard('x'), `0x${value.toString(16).toUpperCase()}`)).toBe(value);
        const negative = -(value >> 1n) - 1n;
        expect(readOne(shard('x'), negative.toString())).toBe(BigInt.asUintN(64, negative));
      }),
      { seed },
    );
  });

  it('of operations are hex first, then signed decimal', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        const hex = (value >>> 0).toString(16);
        expect(readOne(opcode('x'), `0x${hex}`)).toBe(value);
        expect(readOne(opcode('x'), hex)).toBe(value);
        const negative = -1 - (value & 0x7fffffff);
        expect(readOne(opcode('x'), negative.toString())).toBe(negative);
      }),
      { seed },
    );
  });

  it.each([
    [opcode('x'), '10', 16],
    [opcode('x'), '-1', -1],
    [opcode('x'), '260734629', 260_734_629],
    [opcode('x'), '0x1ffffffff', refused],
    [opcode('x'), '3000000000', refused],
    [opcode('x'), 'jetton_transfer', refused],
    [shard('x'), '8000000000000000', 2n ** 63n],
    [shard('x'), '-9223372036854775808', 2n ** 63n],
    [shard('x'), '1152921504606846976', 1_152_921_504_606_846_976n],
    [shard('x'), '18446744073709551616', refused],
    [utime('x'), '1700000000', 1_700_000_000],
    [utime('x'), '1700000000.9', 1_700_000_000],
    [utime('x'), '1.7e9', 1_700_000_000],
    [utime('x'), '4.6085350361101885e-293', 0],
    [utime('x'), '1.7976931348623157e+308', Number.MAX_SAFE_INTEGER],
    [utime('x'), '-1', refused],
    [utime('x'), 'now', refused],
    [lt('x'), '46000000000001', 46_000_000_000_001n],
    [lt('x'), '18446744073709551615', 2n ** 63n - 1n],
    [lt('x'), '-1', refused],
    [lt('x'), '18446744073709551616', refused],
    [int32('x'), '-1', -1],
    [int32('x'), '2147483648', refused],
    [int32('x'), '1.5', refused],
  ])('%#: %o of %s is %s', (parameter, value, expected) => {
    expect(readOne(parameter as Parameter<unknown>, value)).toEqual(expected);
  });

  it.each(['true', 'True', 'TRUE', 't', 'T', '1'])('%s is true', (value) => {
    expect(readOne(bool('x'), value)).toBe(true);
  });

  it.each(['false', 'False', 'FALSE', 'f', 'F', '0'])('%s is false', (value) => {
    expect(readOne(bool('x', true), value)).toBe(false);
  });

  it.each(['yes', 'tRUE', '2', 'on'])('%s is neither true nor false', (value) => {
    expect(readOne(bool('x'), value)).toBe(refused);
  });
});

describe('a list', () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const [first, second] = [one.toString('hex'), two.toString('hex')];

  it.each([
    ['is made of repeated values', `x=${first}&x=${second}`],
    ['is split at commas', `x=${first},${second}`],
    ['may be both', `x=${first}&x=,,${second},`],
    ['has no empty values', `x=&x=${first}&x=&x=${second}`],
  ])('%s', (_what, query) => {
    expect(read({ x: hashes('x') }, query)).toEqual({ x: [one, two] });
  });

  it.each(['', 'x=', 'x=&x='])('is empty without a value: %s', (query) => {
    expect(read({ x: accounts('x') }, query)).toEqual({ x: [] });
  });

  it.each([
    [`x=${first}&x=bad`, 1],
    [`x=&x=bad`, 1],
    [`x=${first},bad`, 0],
  ])('tells which value is wrong: %s', (query, index) => {
    expect(read({ x: hashes('x') }, query)).toBe(
      `failed to decode: schema: error converting value for index ${index} of "x"`,
    );
  });

  it('of texts is not split', () => {
    expect(read({ x: texts('x') }, 'x=a,b&x=c')).toEqual({ x: ['a,b', 'c'] });
  });
});

describe('the document', () => {
  it('takes every form of a hash and of an address, alone and in lists', () => {
    fc.assert(
      fc.property(bytes32, fc.integer({ min: -128, max: 127 }), fc.boolean(), (id, workchain, urlSafe) => {
        const ofHash = formsOf(id);
        const ofAddress = [formatRawAddress({ workchain, id }), formatFriendlyAddress({ workchain, id }, { urlSafe })];
        expect(ofHash.filter((form) => !isIn(hash('x'), form))).toEqual([]);
        expect([...ofAddress, 'null'].filter((form) => !isIn(nullableAccount('x'), form))).toEqual([]);
        expect(isIn(hashes('x'), ofHash.join(','))).toBe(true);
        expect(isIn(hashes('x'), ofHash.join(''))).toBe(false);
        expect(isIn(accounts('x'), `,${ofAddress.join(',')},`)).toBe(true);
      }),
      { seed },
    );
  });

  it('takes no text that is refused, checksums aside', () => {
    const kinds = [hash('x'), hashes('x'), account('x'), accounts('x'), nullableAccount('x')];
    const hostile = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-fA-Fx:=+/_,-]{40,70}$/));
    fc.assert(
      fc.property(hostile, fc.constantFrom(...kinds), (value, kind) => {
        const isRefused = String(readOne(kind, value)).startsWith('failed to decode');
        const mayBeFriendly = value.split(',').some((part) => part.length === 48);
        expect(isIn(kind, value) && !mayBeFriendly).toBe(!isRefused && !mayBeFriendly);
      }),
      { seed, numRuns: 2_000 },
    );
  });

  const bits = { shard: shard('x'), opcode: opcode('x') };

  it.each(['0X2', '+5', '10', '0x178d4519', '-1', '-2147483648', ''])('takes %s for bits', (value) => {
    expect(Object.values(bits).map((kind) => isIn(kind, value))).toEqual([true, true]);
  });

  it.each(['8000000000000000', '0x8000000000000000', '-9223372036854775808', '-9223372036854775809'])(
    'takes %s for bits of shards at most',
    (value) => {
      const taken = Object.values(bits).map((kind) => readOne(kind, value) !== refused);
      expect(Object.values(bits).map((kind) => isIn(kind, value))).toEqual(taken);
      expect(taken[1]).toBe(false);
    },
  );

  it.each(Object.entries(bits))('takes nothing that is refused as bits: %s', (_what, kind) => {
    const documented = fc.stringMatching(new RegExp(String(kind.input.schema['pattern'])));
    fc.assert(
      fc.property(documented, (value) => {
        expect(readOne(kind, value)).not.toBe(refused);
      }),
      { seed, numRuns: 2_000 },
    );
  });

  it('wants something where something is required', () => {
    const needed = [required(account('x'), 'x is required'), requiredList(accounts('x'), 'x is required')];
    for (const { input } of needed) expect(input.schema).toMatchObject({ minLength: 1 });
    expect(account('x').input.schema).not.toHaveProperty('minLength');
  });
});

describe('a query', () => {
  it('counts the last value of a name, takes an empty one for none, and ignores names that nobody knows', () => {
    const parameters = { seqno: int32('seqno'), workchain: int32('workchain') };
    expect(read(parameters, 'seqno=1&seqno=2&workchain=&nobody=x')).toEqual({ seqno: 2, workchain: undefined });
    expect(read(parameters, 'seqno=1&seqno=')).toEqual({ seqno: undefined, workchain: undefined });
  });

  it.each([
    ['', 100, 0, 'desc'],
    ['limit=0&offset=-5&sort=ASC', 1, 0, 'asc'],
    ['limit=1000&offset=123456789012&sort=a', 1000, 123_456_789_012, 'asc'],
    ['limit=-7&sort=D', 1, 0, 'desc'],
    ['limit=&offset=&sort=', 100, 0, 'desc'],
  ])('names a page: %s', (query, limit, offset, sort) => {
    expect(read(paging, query)).toEqual({ limit, offset, sort });
  });

  it.each([
    ['limit=1001', 'limit is not allowed: 1001 > 1000'],
    ['limit=ten', 'failed to decode: schema: error converting value for "limit"'],
    ['offset=1.5', 'failed to decode: schema: error converting value for "offset"'],
    ['offset=9223372036854775808', 'failed to decode: schema: error converting value for "offset"'],
    ['sort=up', 'wrong value for sort parameter'],
    ['limit=5000&sort=up', 'wrong value for sort parameter'],
  ])('is refused: %s', (query, message) => {
    expect(read(paging, query)).toBe(message);
  });

  it('names a word by itself only', () => {
    const direction = word('direction', ['in', 'out'], 'direction should be one of: in, out');
    expect(read({ direction }, 'direction=out')).toEqual({ direction: 'out' });
    expect(read({ direction }, 'direction=IN')).toBe('direction should be one of: in, out');
  });

  it('of any text is read or refused, never anything else', () => {
    const all = { ...windows, ...paging, hash: hash('hash'), shard: shard('shard'), opcode: opcode('opcode') };
    const names = ['start_utime', 'end_lt', 'limit', 'offset', 'sort', 'hash', 'shard', 'opcode'];
    const text = fc.oneof(fc.string(), anyText(), fc.float().map(String), fc.bigInt().map(String));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...names), text)), (pairs) => {
        const found = read(all, new URLSearchParams(pairs).toString());
        const told = typeof found === 'string' ? found : 'limit is not allowed';
        expect(told).toMatch(/^(failed to decode: |wrong value for sort|limit is not allowed)/);
      }),
      { seed, numRuns: 2000 },
    );
  });
});
