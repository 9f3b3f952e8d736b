import { describe, expect, it } from 'vitest';

import { noColumns } from '#service/actions/engine/action-rows.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { noState } from '#service/simulation/account-state.ts';
import { readTrace, writeTrace } from '#service/pending/pending-trace.ts';
import type { PendingTrace } from '#service/pending/pending-trace.ts';

const hash = (byte: number): Buffer => Buffer.alloc(32, byte);

/** Larger than any number that is exact. */
const LARGE = 2n ** 120n - 1n;

const action: Action = {
  ...noColumns,
  traceId: hash(3).toString('base64'),
  actionId: hash(4).toString('base64'),
  type: 'jetton_swap',
  transactions: [hash(3).toString('base64')],
  accounts: [`0:${'A'.repeat(64)}`],
  startLt: 66_000_000_000_001n,
  endLt: 66_000_000_000_009n,
  startUtime: 1_790_000_000,
  endUtime: 1_790_000_001,
  mcSeqnoEnd: 7,
  success: true,
  parentActionId: null,
  ancestorTypes: ['jetton_transfer'],
  source: `0:${'A'.repeat(64)}`,
  opcode: 0xf8a7ea5,
  value: -1n,
  amount: LARGE,
  extraCurrencies: { 100: '5' },
  data: { jetton_swap_data: { dex: 'dedust', min: LARGE, peers: [{ amount: 0n, asset: null }, true, 12, ''] } },
};

const trace: PendingTrace = {
  key: hash(1),
  message: Buffer.from('b5ee9c720101', 'hex'),
  messageHash: hash(2),
  rootHash: hash(3),
  sentUnixMs: 1_790_000_000_123,
  sinceUtime: 1_790_000_000,
  accounts: [`0:${'a'.repeat(64)}`],
  transactions: [{ workchain: -1, boc: Buffer.from('b5ee9c72', 'hex') }],
  states: [noState(hash(5)), { ...noState(hash(6)), balance: LARGE, status: 'active', codeHash: hash(7) }],
  version: 13,
  left: 0,
  classificationState: 'failed',
  actions: [action],
};

describe('a pending trace', () => {
  it('is read as it was written, its actions with their amounts', () => {
    expect(readTrace(writeTrace(trace))).toEqual(trace);
  });
});
