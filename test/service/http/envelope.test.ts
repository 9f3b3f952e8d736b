import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { extraText, failureEnvelope, sixDigits, successEnvelope } from '#service/http/envelope.ts';

describe('elapsed milliseconds', () => {
  it.each([
    [0, '0'],
    [0.412, '0.412'],
    [12.5, '12.5'],
    [56.903, '56.903'],
    [1, '1'],
    [100, '100'],
    [0.1234567, '0.123457'],
    [1.28691234, '1.28691'],
    [4500.1234, '4500.12'],
    [99999.94, '99999.9'],
    [99999.96, '100000'],
    [999999.4, '999999'],
    [999999.5, '1e+06'],
    [1234567, '1.23457e+06'],
    [0.0001, '0.0001'],
    [0.00012345678, '0.000123457'],
    [0.00001, '1e-05'],
    [0.0000123, '1.23e-05'],
    [1e21, '1e+21'],
  ])('%d is %s, as a C++ stream prints it', (value, text) => {
    expect(sixDigits(value)).toBe(text);
  });

  it('keep six significant digits and never end in a zero behind the point', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), (value) => {
        const text = sixDigits(value);
        expect(Number(text)).toBe(Number(value.toPrecision(6)));
        expect(text).toMatch(/^\d+(\.\d*[1-9])?(e[+-]\d{2,})?$/);
      }),
      { seed: 2026, numRuns: 2000 },
    );
  });
});

describe('@extra', () => {
  const facts = { unixSeconds: 1_755_516_054, liteServers: [] as number[], elapsedMs: 0.412, cached: false };

  it.each([
    ['one lite server', { ...facts, liteServers: [12], elapsedMs: 56.903 }, '1755516054:12:56.903'],
    ['several', { ...facts, liteServers: [3, 0, 7] }, '1755516054:3,0,7:0.412'],
    ['none', facts, '1755516054:_:0.412'],
    ['a cache', { ...facts, cached: true }, '1755516054:_:0.412:c'],
    ['a cache, whoever filled it', { ...facts, liteServers: [5], cached: true }, '1755516054:_:0.412:c'],
  ])('names %s', (_what, given, text) => {
    expect(extraText(given)).toBe(text);
  });
});

describe('envelopes', () => {
  const failure = { status: 422, text: 'empty "address"', code: 'invalid_parameter', unexpected: false };

  it.each([
    ['a success', successEnvelope('0', '_'), '{"ok":true,"result":"0","@extra":"_"}'],
    ['a failure', failureEnvelope(failure, '_'), '{"ok":false,"error":"empty \\"address\\"","code":422,"@extra":"_"}'],
    [
      'a JSON-RPC success',
      successEnvelope({ a: 1 }, '_', { id: '"1"' }),
      '{"ok":true,"result":{"a":1},"@extra":"_","jsonrpc":"2.0","id":"1"}',
    ],
    [
      'a JSON-RPC success without id',
      successEnvelope([], '_', {}),
      '{"ok":true,"result":[],"@extra":"_","jsonrpc":"2.0"}',
    ],
  ])('of %s have their fields in order', (_what, text, expected) => {
    expect(text).toBe(expected);
  });
});
