import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HttpError } from '#service/http/errors.ts';
import { parseJson } from '#service/http/json-body.ts';
import { threadCpuMs } from '#test/support/thread-cpu.ts';

const parse = (text: string): unknown => parseJson(Buffer.from(text));

function refusal(bytes: Uint8Array): string {
  try {
    parseJson(bytes);
  } catch (error) {
    if (error instanceof HttpError && ['body_not_json', 'stack_too_long'].includes(error.code)) return error.message;
    throw error;
  }
  return 'accepted';
}

const fields = (count: number): string =>
  `[[1],{${Array.from({ length: count }, (_, at) => `"field ${at}":{"a":[1,2]}`).join(',')}},{}]`;

/** A list of numbers as arguments. */
const numbers = (count: number): string => `[${Array(count).fill('["num","1"]').join(',')}]`;

describe('a JSON body', () => {
  const nested = { a: [{ b: [-12_345_678_901_234_567_890n, '-12345678901234567890'] }] };
  const beside = { '12345678901234567890': 'a"12345678901234567890', b: 12_345_678_901_234_567_890n };

  it.each([
    ['{"shard":-9223372036854775808}', { shard: -9_223_372_036_854_775_808n }],
    ['[9007199254740993]', [9_007_199_254_740_993n]],
    ['[9007199254740991]', [9_007_199_254_740_991]],
    ['{"a":"9007199254740993"}', { a: '9007199254740993' }],
    ['[1.5,-0.25,1e3]', [1.5, -0.25, 1000]],
    ['[1234567890123456.5]', [1_234_567_890_123_456.5]],
    ['[1234567890123456e5]', [1_234_567_890_123_456e5]],
    ['{"a":[{"b":[-12345678901234567890,"-12345678901234567890"]}]}', nested],
    ['{"12345678901234567890":"a\\"12345678901234567890","b":12345678901234567890}', beside],
  ])('%s keeps its numbers exactly', (text, value) => {
    expect(parse(text)).toEqual(value);
    const long = `{"digits in a string":"${'1234567890'.repeat(2_000)}","value":${text}}`;
    expect(parse(long)).toMatchObject({ value });
  });

  it('does not spend long on an integer of a million digits', () => {
    const startedMs = threadCpuMs();
    expect(parse(`[${'9'.repeat(1_000_000)}]`)).toEqual([Infinity]);
    expect(threadCpuMs() - startedMs).toBeLessThan(500);
  });

  it('reports the fault in its own words, with or without long integers', () => {
    expect(refusal(Buffer.from('[12345678901234567890,x]'))).not.toMatch(/[0-9a-f]{32}/);
    expect(refusal(Buffer.from('[01234567890123456789]'))).not.toBe('accepted');
    expect(refusal(Buffer.from('[12345678901234567890-1]'))).not.toBe('accepted');
  });

  it('keeps every 64-bit integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), (value) => {
        const parsed = parse(`{"a":[${value}]}`) as { a: [number | bigint] };
        expect(BigInt(parsed.a[0])).toBe(value);
      }),
      { seed: 7, numRuns: 1000 },
    );
  });

  it('is read like JSON.parse reads it where numbers are small', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain = JSON.parse(text, (_key, value: unknown) =>
          typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? 0 : value,
        ) as unknown;
        const ours = JSON.parse(
          JSON.stringify(parse(text), (_key, value: unknown) => (typeof value === 'bigint' ? 0 : value)),
          (_key, value: unknown) =>
            typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? 0 : value,
        ) as unknown;
        expect(ours).toEqual(JSON.parse(JSON.stringify(plain)));
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  const unterminated = expect.stringMatching(/^End of string/) as unknown;

  it.each([
    ['depth 2048', `${'['.repeat(2048)}${']'.repeat(2048)}`, 'accepted'],
    ['depth 2049', `${'['.repeat(2049)}${']'.repeat(2049)}`, 'nested deeper than 2048'],
    ['depth 2049 of objects', `${'{"a":'.repeat(2049)}1${'}'.repeat(2049)}`, 'nested deeper than 2048'],
    ['half a million open brackets', '['.repeat(500_000), 'nested deeper than 2048'],
    ['brackets in a string', JSON.stringify(`\\"${'['.repeat(5000)}\\`), 'accepted'],
    ['199,000 values', `[${Array(199_000).fill(1).join(',')}]`, 'accepted'],
    ['201,000 values', `[${Array(201_000).fill(1).join(',')}]`, 'more than 200000 values'],
    ['an unfinished string behind a long integer', `[${'9'.repeat(20)},"${'\\"'.repeat(100_000)}`, unterminated],
    ['1,000 fields', fields(1_000), 'accepted'],
    ['1,001 fields', fields(1_001), 'more than 1000 fields in an object'],
    ['16,000 long integers', `[${Array(16_000).fill('9'.repeat(20)).join(',')}]`, 'accepted'],
    ['16,001 long integers', `[${Array(16_001).fill('9'.repeat(20)).join(',')}]`, 'more than 16000 long integers'],
    [
      'an unfinished string',
      `{"a":"${'\\"'.repeat(100_000)}`,
      expect.stringMatching(/^Unterminated string/) as unknown,
    ],
    ['10,000 long strings', JSON.stringify(Array(10_000).fill('x'.repeat(48))), 'accepted'],
  ])('with %s is judged by its shape', (_what, text, expected) => {
    expect(refusal(Buffer.from(text))).toEqual(expected);
  });

  it.each([
    ['1,024 arguments', `{"stack":${numbers(1024)}}`, 'accepted'],
    ['1,025 arguments', `{"stack":${numbers(1025)}}`, 'more than 1024 arguments'],
    ['1,025 arguments within parameters', `{"params":{"stack" :\n ${numbers(1025)}}}`, 'more than 1024 arguments'],
    [
      '8,000 arguments that are not JSON behind the bound',
      `{"stack":[${'1,'.repeat(8000)}`,
      'more than 1024 arguments',
    ],
    ['1,025 items of an argument', `{"stack":[["tuple",${numbers(1025)}]]}`, 'accepted'],
    ['1,025 items of another list', `{"stacks":${numbers(1025)}}`, 'accepted'],
    ['1,025 items beside the name in a string', `[${JSON.stringify('"stack":')},${numbers(1025)}]`, 'accepted'],
  ])('with %s is judged by its arguments before it is parsed', (_what, text, expected) => {
    expect(refusal(Buffer.from(text))).toBe(expected);
  });

  it('that is not UTF-8 is refused', () => {
    expect(refusal(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBe('invalid UTF-8');
  });

  it('may begin with a byte order mark', () => {
    expect(parseJson(Buffer.from('\uFEFF{"a":1}'))).toEqual({ a: 1 });
  });

  it('cannot give an object another prototype', () => {
    const value = parse('{"__proto__":{"address":"x"},"constructor":{"prototype":{"polluted":1}}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.hasOwn(value, 'address')).toBe(false);
  });
});
