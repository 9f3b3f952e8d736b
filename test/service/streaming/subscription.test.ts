import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { fieldsOfQuery } from '#service/streaming/request/query.ts';
import { readRemoval, readWish, sseWording, wsWording, type Wording } from '#service/streaming/request/subscription.ts';

import { address, hash } from './stream-listener.ts';

const terms = { addresses: 2, traces: 1 };

function read(source: Record<string, unknown>, wording: Wording = sseWording, actionsVersion?: string) {
  return readWish(source, { wording, terms, actionsVersion, slice: createTimeSlice(undefined) });
}

/** Text of the refusal under each wording. */
async function refusals(source: Record<string, unknown>): Promise<string[]> {
  const texts = [sseWording, wsWording].map((wording) =>
    read(source, wording).then(String, (error: Error) => error.message),
  );
  return Promise.all(texts);
}

const one = { types: ['transactions'], addresses: [address] };
const hex = Buffer.from(hash, 'base64').toString('hex');
const other = (byte: number): string => `0:${byte.toString(16).padStart(64, '0')}`;
const hashOf = (byte: number): string => beginCell().storeUint(byte, 8).endCell().hash().toString('base64');

/** Reads addresses under the largest plan. */
function readMany(addresses: readonly string[]) {
  const most = { addresses: 10_000, traces: 1 };
  const source = { types: ['actions'], addresses };
  return readWish(source, {
    wording: sseWording,
    terms: most,
    actionsVersion: undefined,
    slice: createTimeSlice(undefined),
  });
}

/** Vocabulary of a caller whose header names the first version. */
async function types(source: object): Promise<ReadonlySet<string>> {
  return (await read({ ...one, ...source }, sseWording, 'v1')).subscription.supportedActionTypes;
}

describe('a subscription', () => {
  it('has the defaults of the protocol', async () => {
    const { subscription, cursor } = await read(one);
    expect(subscription).toMatchObject({
      types: new Set(['transactions']),
      accounts: new Set([address]),
      traces: new Set(),
      minFinality: 'finalized',
      finalityScope: 'trace',
      includeAddressBook: false,
      includeMetadata: false,
      actionTypes: null,
    });
    expect(subscription.supportedActionTypes).toContain('jetton_swap');
    expect(cursor).toBeUndefined();
  });

  it('has every field that it names', async () => {
    const wish = await read({
      types: ['trace', 'actions', 'actions', 'trace_invalidated'],
      addresses: [address],
      trace_external_hash_norms: [` ${hash} `],
      min_finality: 'pending',
      finality_scope: 'transaction',
      include_address_book: true,
      include_metadata: true,
      action_types: ['jetton_transfer'],
      supported_action_types: ['tgbtc_mint'],
      cursor: 'text',
      unknown: 1,
    });
    expect(wish.cursor).toBe('text');
    expect(wish.subscription).toMatchObject({
      types: new Set(['trace', 'actions']),
      traces: new Set([hex]),
      minFinality: 'pending',
      finalityScope: 'transaction',
      includeAddressBook: true,
      includeMetadata: true,
      actionTypes: new Set(['jetton_transfer']),
    });
    expect(wish.subscription.supportedActionTypes).toContain('tgbtc_mint');
    expect(wish.subscription.supportedActionTypes).toContain('ton_transfer');
  });

  it('counts five forms of one account, and four of one hash, once', async () => {
    const id = address.slice(2);
    const friendly = [
      'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N',
      'UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI',
    ];
    const { subscription } = await read({
      types: ['trace', 'transactions'],
      addresses: [address, `0:${id.toLowerCase()}`, ...friendly, friendly[0]!.replaceAll('_', '/')],
      trace_external_hash_norms: [hash, hash.replaceAll('/', '_').replaceAll('+', '-'), hex, `0x${hex.toUpperCase()}`],
    });
    expect([subscription.accounts.size, subscription.traces.size]).toEqual([1, 1]);
  });

  it('takes null for absent, and an empty list of actions for all', async () => {
    const { subscription } = await read({
      ...one,
      min_finality: null,
      include_metadata: null,
      action_types: [],
      cursor: '',
    });
    expect(subscription).toMatchObject({ minFinality: 'finalized', includeMetadata: false, actionTypes: null });
  });

  it('prefers its own vocabulary to that of the header', async () => {
    expect((await types({ supported_action_types: ['latest'] })).size).toBeGreaterThan((await types({})).size);
  });
});

describe('a refused subscription', () => {
  it.each<[what: string, source: Record<string, unknown>, sse: string, ws?: string]>([
    ['without types', {}, 'types are required for subscription', 'types are required'],
    [
      'with implied types alone',
      { types: ['trace_invalidated'] },
      'types are required for subscription',
      'types are required',
    ],
    ['of an unknown type', { ...one, types: ['transactions', 'x'] }, 'invalid event type: x'],
    ['of a bad address', { ...one, addresses: [address, '0:12'] }, 'invalid address: 0:12'],
    [
      'of an empty hash',
      { types: ['trace'], trace_external_hash_norms: [' '] },
      'trace_external_hash_norms contains empty value',
    ],
    ['of a bad hash', { types: ['trace'], trace_external_hash_norms: ['x'] }, 'invalid trace hash: x'],
    [
      'of a hash without padding',
      { types: ['trace'], trace_external_hash_norms: [hash.slice(0, -1)] },
      `invalid trace hash: ${hash.slice(0, -1)}`,
    ],
    [
      'of traces without the type',
      { ...one, trace_external_hash_norms: [hash] },
      'trace_external_hash_norms requires type "trace"',
    ],
    [
      'of the type without traces',
      { types: ['trace'] },
      'trace_external_hash_norms are required for trace subscription',
    ],
    ['without addresses', { types: ['actions'] }, 'addresses are required for subscription', 'addresses are required'],
    [
      'of a trace and actions without addresses',
      { types: ['trace', 'actions'], trace_external_hash_norms: [hash] },
      'addresses are required for subscription',
      'addresses are required',
    ],
    [
      'of too many addresses',
      { ...one, addresses: [1, 2, 3].map(other) },
      'too many addresses: 3 > max 2',
      'address limit exceeded: current 0 + new 3 > max 2',
    ],
    [
      'of too many traces',
      { types: ['trace'], trace_external_hash_norms: [1, 2].map(hashOf) },
      'too many traces: 2 > max 1',
    ],
    [
      'of too many action types',
      { ...one, action_types: Array.from({ length: 257 }, (_, at) => `type_${at}`) },
      'too many action types: 257 > max 256',
    ],
    [
      'of an unknown level',
      { min_finality: 'Finalized' },
      'invalid subscription request: unknown finality state: Finalized',
      'invalid subscribe request: unknown finality state: Finalized',
    ],
    [
      'of an unknown scope',
      { finality_scope: 'x' },
      'invalid subscription request: unknown finality scope: x',
      'invalid subscribe request: unknown finality scope: x',
    ],
    [
      'of types that are no list',
      { types: 'trace' },
      'invalid subscription request: types: expected an array of strings',
      'invalid subscribe request: types: expected an array of strings',
    ],
    [
      'of an address that is a number',
      { types: ['actions'], addresses: [1] },
      'invalid subscription request: addresses: expected an array of strings',
      'invalid subscribe request: addresses: expected an array of strings',
    ],
    [
      'of a flag that is a text',
      { ...one, include_metadata: 'true' },
      'invalid subscription request: include_metadata: expected a boolean',
      'invalid subscribe request: include_metadata: expected a boolean',
    ],
    [
      'of a cursor that is a number',
      { ...one, cursor: 1 },
      'invalid subscription request: cursor: expected a string',
      'invalid subscribe request: cursor: expected a string',
    ],
    [
      'of a long action type',
      { ...one, action_types: ['x'.repeat(65)] },
      'invalid subscription request: action_types: expected names of at most 64 characters',
      'invalid subscribe request: action_types: expected names of at most 64 characters',
    ],
  ])('%s has its text', async (_what, source, sse, ws = sse) => {
    expect(await refusals(source)).toEqual([sse, ws]);
  });

  it('names the first fault in the order of the protocol', async () => {
    const faults: [string, unknown, string][] = [
      ['min_finality', 'x', 'invalid subscription request: unknown finality state: x'],
      ['types', [], 'types are required for subscription'],
      ['types', ['x'], 'invalid event type: x'],
      ['addresses', ['x'], 'invalid address: x'],
      ['trace_external_hash_norms', [''], 'trace_external_hash_norms contains empty value'],
      ['trace_external_hash_norms', [hash], 'trace_external_hash_norms requires type "trace"'],
      ['addresses', [], 'addresses are required for subscription'],
    ];
    for (const [at, [, , text]] of faults.entries()) {
      // Each field has its first fault from this one on.
      const source: Record<string, unknown> = { types: ['actions'] };
      for (const [name, value] of faults.slice(at).toReversed()) source[name] = value;
      if (faults.slice(at).every(([name]) => name !== 'types')) source['types'] = ['actions'];
      expect((await refusals(source))[0]).toBe(text);
    }
  });

  it('of 10,001 addresses is above the most that a plan gives, and two forms of one count once', async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => other(at));
    await expect(readMany(many)).rejects.toThrow('too many addresses: 10001 > max 10000');
    const twice = many.slice(1).flatMap((text) => [text, text.toUpperCase()]);
    expect((await readMany(twice)).subscription.accounts.size).toBe(10_000);
  });

  it('with one bad address among 1,000 names that address', async () => {
    const addresses = Array.from({ length: 1000 }, (_, at) => (at === 777 ? `${other(at)}0` : other(at)));
    expect(await refusals({ types: ['actions'], addresses })).toEqual([
      `invalid address: ${addresses[777]}`,
      `invalid address: ${addresses[777]}`,
    ]);
  });

  it('repeats a long text only in part', async () => {
    const [text] = await refusals({ ...one, addresses: ['x'.repeat(100_000)] });
    expect(text).toBe(`invalid address: ${'x'.repeat(128)}…`);
  });
});

const remove = (source: Record<string, unknown>) => readRemoval(source, createTimeSlice(undefined));

describe('a removal', () => {
  it('has accounts and traces', async () => {
    const removal = await remove({ addresses: [address], trace_external_hash_norms: [hash] });
    expect(removal).toEqual({ accounts: new Set([address]), traces: new Set([hex]) });
  });

  it.each<[object, string]>([
    [{}, 'addresses or trace_external_hash_norms are required'],
    [{ addresses: ['x'] }, 'invalid address: x'],
    [{ addresses: 1 }, 'invalid unsubscribe request: addresses: expected an array of strings'],
    [{ trace_external_hash_norms: ['x'] }, 'invalid trace hash: x'],
  ])('%j is refused', async (source, text) => {
    await expect(remove({ ...source })).rejects.toThrow(text);
  });
});

describe('a query of a subscription', () => {
  it('repeats lists or separates them by commas, and takes all forms of a flag', () => {
    const query = new URLSearchParams(
      'types=actions,trace&types=transactions&addresses=&include_metadata=1&id=a&id=b&cursor=',
    );
    expect(fieldsOfQuery(query)).toEqual({
      types: ['actions', 'trace', 'transactions'],
      addresses: [],
      trace_external_hash_norms: [],
      action_types: [],
      supported_action_types: [],
      include_metadata: true,
      id: 'b',
    });
    expect(fieldsOfQuery(new URLSearchParams('include_metadata=yes'))).toMatchObject({ include_metadata: 'yes' });
  });
});
