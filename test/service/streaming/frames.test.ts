import { describe, expect, it } from 'vitest';

import { bodyFault, frameFault, messageFault } from '#test/support/stream-contract.ts';

import { stateEvent } from './fake-hub.ts';

const cursor = 'AQAAAAAAAAAAAAAAAAAAAAAAAA';
const norm = '/ZyO+yaCzmsKyJvDBLuFjd/mqdwCwQcwRNQiZJXGPBo=';
const invalidated = { type: 'trace_invalidated', trace_external_hash_norm: norm, reason: 'expired', cursor };
const state = { ...stateEvent(), cursor };

describe('the schemas of streaming', () => {
  it.each<object>([
    state,
    invalidated,
    { id: '1', status: 'subscribed', cursor, resumed: 'none', gap: { from_mc_seqno: 1, to_mc_seqno: 2 } },
    { status: 'unsubscribed' },
    { status: 'pong', cursor },
    { id: '1', error: 'invalid cursor' },
    { error: 'slow consumer', code: 1013, cursor },
  ])('take the frame %j', (frame) => {
    expect(frameFault({ ...frame })).toBeUndefined();
  });

  it.each<[string, object]>([
    ['an unknown type', { ...invalidated, type: 'other' }],
    ['an unknown status', { status: 'ok' }],
    ['a missing cursor', { ...invalidated, cursor: undefined }],
    ['an unknown field', { ...invalidated, account: '' }],
    ['an unknown reason', { ...invalidated, reason: 'lost' }],
    ['a level that states do not have', { ...state, finality: 'pending' }],
    ['no balance', { ...state, state: { ...stateEvent().state, balance: null } }],
    [
      'no transaction',
      { type: 'transactions', finality: 'pending', trace_external_hash_norm: norm, transactions: [], cursor },
    ],
    ['an answer with a type', { status: 'pong', type: 'pong', cursor }],
    ['nothing', {}],
  ])('refuse a frame with %s', (_what, frame) => {
    expect(frameFault({ ...frame })).toBeTypeOf('string');
  });

  it('take messages without their optional fields, with null for them, and with unknown fields', () => {
    const wish = { types: ['trace'], trace_external_hash_norms: [norm], cursor: null, other: 1 };
    expect(bodyFault(wish)).toBeUndefined();
    expect(messageFault({ operation: 'subscribe', id: null, ...wish })).toBeUndefined();
    expect(messageFault({ operation: 'ping' })).toBeUndefined();
    expect(messageFault({ operation: 'unsubscribe', addresses: ['a'] })).toBeUndefined();
  });

  it.each<unknown>([[], 1, null, { operation: 'configure' }, { operation: 'ping', id: 1 }, { operation: 'subscribe' }])(
    'refuse the message %j',
    (message) => {
      expect(messageFault(message)).toBeTypeOf('string');
      expect(bodyFault(message)).toBeTypeOf('string');
    },
  );
});
