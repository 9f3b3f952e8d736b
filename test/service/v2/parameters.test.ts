import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readBase64 } from '#service/contract/boc-parameter.ts';
import { optionalFlag } from '#service/v2/flag-parameter.ts';
import { optionalAccountId } from '#service/v2/hash-parameter.ts';
import { listLength, optionalLt } from '#service/v2/integer-parameter.ts';
import { bodySource, querySource, readParameters, withDefault } from '#service/contract/parameter.ts';

describe('a flag', () => {
  const parameters = { flag: optionalFlag('flag') };
  const readText = (text: string) => readParameters(parameters, querySource(new URLSearchParams({ flag: text }))).flag;

  it.each(['y', 'yes', 't', 'true', 'on', '1', 'YES', 'True', 'oN'])('is set by %s', (text) => {
    expect(readText(text)).toBe(true);
  });

  it.each(['n', 'no', 'f', 'false', 'off', '0', 'NO', 'False', 'oFF'])('is not set by %s', (text) => {
    expect(readText(text)).toBe(false);
  });

  it.each(['2', 'ye', 'truth', ' 1', 'null'])('is not what %s says', (text) => {
    expect(() => readText(text)).toThrow('failed to parse flag');
  });

  it.each([
    [true, true],
    [false, false],
    [1, true],
    [0, false],
    [-7, true],
    [2n ** 70n, true],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('given as %s is %s', (given, expected) => {
    expect(readParameters(parameters, bodySource({ flag: given })).flag).toBe(expected);
  });

  it.each([[1.5], [[]], [{}]])('is not %j', (given) => {
    expect(() => readParameters(parameters, bodySource({ flag: given }))).toThrow('failed to parse flag');
  });
});

describe('a parameter with a default', () => {
  const parameters = {
    lt: withDefault(optionalLt('lt'), 7n),
    count: listLength('count', { name: 'CountInput', max: 50 }, 5),
  };

  it('has it when it is absent or null, and is what is given else', () => {
    expect(readParameters(parameters, bodySource({}))).toEqual({ lt: 7n, count: 5 });
    expect(readParameters(parameters, bodySource({ lt: null, count: null }))).toEqual({ lt: 7n, count: 5 });
    expect(readParameters(parameters, bodySource({ lt: 0, count: '50' }))).toEqual({ lt: 0n, count: 50 });
  });

  it('is checked as any other', () => {
    expect(() => readParameters(parameters, bodySource({ lt: -1 }))).toThrow('lt should be non-negative');
    expect(() => readParameters(parameters, bodySource({ count: 51 }))).toThrow('count should be less or equal 50');
  });
});

describe('bytes', () => {
  it('come back from either alphabet, padded or not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (array) => {
        const bytes = Buffer.from(array);
        const forms = [bytes.toString('base64'), bytes.toString('base64url')];
        for (const form of [...forms, forms[0]!.replaceAll('=', '')]) expect(readBase64(form, 'boc')).toEqual(bytes);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('are refused, never guessed, when any character is none of base64', () => {
    const bad = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/^[A-Za-z0-9+/_-]*=*$/.test(text));
    fc.assert(
      fc.property(bad, (text) => {
        expect(() => readBase64(text, 'boc')).toThrow('invalid base64 encoded bytes: ');
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});

it('an account id is read from an address of any workchain and from any form of a hash', () => {
  const id = Buffer.alloc(32, 0x5b);
  const forms = [
    `-1:${id.toString('hex')}`,
    `7:${id.toString('hex')}`,
    id.toString('hex'),
    id.toString('base64'),
    id.toString('base64url'),
  ];
  const parameters = { account: optionalAccountId('after_hash') };
  for (const form of forms) expect(readParameters(parameters, bodySource({ after_hash: form })).account).toEqual(id);
  expect(() => readParameters(parameters, bodySource({ after_hash: 'x' }))).toThrow('failed to parse after_hash');
});
