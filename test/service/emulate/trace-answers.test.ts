import { setImmediate } from 'node:timers/promises';

import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { createTraceAnswers, type TraceAnswersDependencies } from '#service/emulate/trace-answers.ts';
import type { TraceValues } from '#service/emulate/views/trace-view.ts';
import type { V3Request } from '#service/v3/request/operation.ts';
import { metric } from '../pool/network.ts';

/** Callers whose emulation has read its block, and the ends of these reads. */
const begun: string[] = [];
const ends: ((reason: Error) => void)[] = [];
const register = new Registry();
let nowMs = 0;

const answers = createTraceAnswers({ testOnly: false }, {
  snapshots: {
    open: (_seqno, { caller }) => {
      begun.push(caller!);
      return new Promise((_resolve, reject) => void ends.push(reject));
    },
  },
  headSeqno: () => 1,
  register,
  now: () => nowMs,
} as TraceAnswersDependencies);

function emulate(caller: string, payer = caller): void {
  const context = { caller, getMethods: { payer }, signal: new AbortController().signal } as V3Request;
  const values = { mcSeqno: undefined } as TraceValues;
  answers.answer(values, context, () => Promise.reject(new Error('not reached'))).catch(() => undefined);
}

it('A caller with a key emulates at once while another caller has as many emulations as it may have', async () => {
  emulate('greedy', 'anonymous');
  await setImmediate();
  nowMs = 1000;
  ends.shift()!(new Error('the block is away'));
  for (let run = 0; run < 64; run++) emulate('greedy', 'anonymous');
  await setImmediate();
  expect(await metric(register, 'ton_emulate_waiting')).toBe(33);
  emulate('honest');
  await setImmediate();
  expect(begun.at(-1)).toBe('honest');
  expect(await metric(register, 'ton_emulate_running')).toBe(32);
});
