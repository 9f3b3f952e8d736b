import { Address } from '@ton/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readHash } from '#service/v2/hash-parameter.ts';
import { startListener, type Listener } from '#test/service/http/listener.ts';
import { readLines } from '#test/service/live/recorded-transactions.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { askEveryWay } from './three-ways.ts';

let listener: Listener;

beforeAll(async () => {
  listener = await startListener();
});
afterAll(() => listener.close());

async function ask(operation: string, params: Record<string, unknown>): Promise<unknown> {
  const { status, body } = await askEveryWay(listener.url, operation, params);
  return status === 200 ? body['result'] : { status, error: body['error'] };
}

const hex = '83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8';
const raw = `0:${hex}`;
const bounceable = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const nonBounceable = 'UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI';

function variant(text: string): object {
  return {
    '@type': 'ext.utils.detectedAddressVariant',
    b64: text.replaceAll('-', '+').replaceAll('_', '/'),
    b64url: text,
  };
}

describe('detectAddress', () => {
  it.each([
    ['raw_form', raw],
    ['raw_form', raw.toUpperCase()],
    ['friendly_bounceable', bounceable],
    ['friendly_non_bounceable', nonBounceable],
  ])('names %s and shows every form of %s', async (given, address) => {
    const shown = await ask('detectAddress', { address });
    expect(shown).toEqual({
      '@type': 'ext.utils.detectedAddress',
      raw_form: raw,
      bounceable: variant(bounceable),
      non_bounceable: variant(nonBounceable),
      given_type: given,
      test_only: false,
    });
    expect(Object.keys(shown as object).join()).toBe('@type,raw_form,bounceable,non_bounceable,given_type,test_only');
  });

  it('detectAddress shows the testnet flag in both variants', async () => {
    const address = Address.parse(raw).toString({ testOnly: true });
    const shown = (await ask('detectAddress', { address })) as Record<string, Record<string, string>>;
    expect(shown['test_only']).toBe(true);
    expect(shown['bounceable']?.['b64url']).toBe(address);
    expect(shown['non_bounceable']?.['b64url']).toBe(
      Address.parse(raw).toString({ testOnly: true, bounceable: false }),
    );
  });
});

type Unpacking = {
  readonly request: { readonly '@type': string; readonly account_address: string };
  readonly response: { readonly '@type': string; readonly workchain_id: number; readonly addr: string };
};

const unpackings = recordingDirs()
  .flatMap((dir) => readLines<Unpacking>(dir, 'tonlib.jsonl'))
  .filter(({ request }) => request['@type'] === 'unpackAccountAddress');
const noUnpackings = { what: 'addresses as tonlib unpacks them', why: 'none are recorded' };

describe.skipIf(skipLoudly(unpackings.length === 0, noUnpackings))('unpackAddress', () => {
  it.each(unpackings)('says of $request.account_address what tonlib says', async ({ request, response }) => {
    const id = Buffer.from(response.addr ?? '', 'base64')
      .toString('hex')
      .toUpperCase();
    const expected =
      response['@type'] === 'error'
        ? { status: 422, error: 'failed to parse address' }
        : `${response.workchain_id}:${id}`;
    expect(await ask('unpackAddress', { address: request.account_address })).toEqual(expected);
  });
});

describe('packAddress and unpackAddress', () => {
  it('give the upper-case raw form, and the friendly form with the flags that were given', async () => {
    expect(await ask('unpackAddress', { address: bounceable })).toBe(`0:${hex.toUpperCase()}`);
    expect(await ask('packAddress', { address: raw })).toBe(bounceable);
    expect(await ask('packAddress', { address: nonBounceable })).toBe(nonBounceable);
  });

  it('agree with @ton/core on any address in any spelling', async () => {
    const spelling = fc.record({
      workchain: fc.integer({ min: -128, max: 127 }),
      id: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      bounceable: fc.boolean(),
      testOnly: fc.boolean(),
      urlSafe: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(spelling, async ({ workchain, id, ...style }) => {
        const address = new Address(workchain, Buffer.from(id));
        const given = address.toString(style);
        const query = new URLSearchParams({ address: given }).toString();
        const packed = await (await fetch(`${listener.url}/api/v2/packAddress?${query}`)).json();
        // An unescaped plus arrives as a space.
        const unpacked = await (await fetch(`${listener.url}/api/v2/unpackAddress?address=${given}`)).json();
        expect(packed).toMatchObject({ result: address.toString({ ...style, urlSafe: true }) });
        expect(unpacked).toMatchObject({ result: `${workchain}:${address.hash.toString('hex').toUpperCase()}` });
      }),
      { seed: 2, numRuns: 60 },
    );
  });

  it('differ where a friendly address has no room for the workchain', async () => {
    const address = `1000:${hex}`;
    expect(await ask('unpackAddress', { address })).toBe(`1000:${hex.toUpperCase()}`);
    const refused = { status: 422, error: 'failed to parse address' };
    expect(await ask('packAddress', { address })).toEqual(refused);
    expect(await ask('detectAddress', { address })).toEqual(refused);
  });
});

describe.each(['detectAddress', 'packAddress', 'unpackAddress'])('%s', (operation) => {
  it.each([
    [{}, 'empty address'],
    [{ address: '' }, 'empty address'],
    [{ address: hex }, 'failed to parse address'],
    [{ address: `${bounceable.slice(0, -1)}A` }, 'failed to parse address'],
    [{ address: `0:${hex}0` }, 'failed to parse address'],
    [{ address: `2147483648:${hex}` }, 'failed to parse address'],
  ])('refuses %j: %s', async (params, error) => {
    expect(await ask(operation, params)).toEqual({ status: 422, error });
  });
});

describe('detectHash', () => {
  const digest = '08f504e165de1094fe0f0cf57d8feb92b796bd89ec3addc8e388b51b9a2324f3';
  const shown = {
    '@type': 'ext.utils.detectedHash',
    b64: 'CPUE4WXeEJT+Dwz1fY/rkreWvYnsOt3I44i1G5ojJPM=',
    b64url: 'CPUE4WXeEJT-Dwz1fY_rkreWvYnsOt3I44i1G5ojJPM',
    hex: digest,
  };

  it.each([digest, digest.toUpperCase(), shown.b64, shown.b64url, `${shown.b64url}=`])(
    'shows every form of %s',
    async (hash) => {
      expect(await ask('detectHash', { hash })).toEqual(shown);
    },
  );

  it('takes a plus that arrives as a space', async () => {
    const reply = await fetch(`${listener.url}/api/v2/detectHash?hash=${shown.b64}`);
    expect(await reply.json()).toMatchObject({ result: shown });
  });

  it.each([
    [{}, 'empty hash'],
    [{ hash: '' }, 'empty hash'],
    [{ hash: digest.slice(1) }, 'failed to parse hash'],
    [{ hash: `${digest}00` }, 'failed to parse hash'],
    [{ hash: shown.b64.slice(0, 43) }, 'failed to parse hash'],
    [{ hash: `${shown.b64}=` }, 'failed to parse hash'],
    [{ hash: 'hello' }, 'failed to parse hash'],
  ])('refuses %j: %s', async (params, error) => {
    expect(await ask('detectHash', params)).toEqual({ status: 422, error });
  });

  it('reads back each form of any hash', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(bytes, (hash) => {
        const forms = [hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')];
        for (const form of [...forms, `${hash.toString('base64url')}=`]) expect(readHash(form, 'body')).toEqual(hash);
      }),
      { seed: 3, numRuns: 200 },
    );
  });
});
