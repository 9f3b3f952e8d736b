import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Detector } from '#service/interfaces/detector.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { metric } from '../pool/network.ts';
import { startInterpreter, untilInterpreted } from './interpreter-under-test.ts';

const INTERNAL_TRANSFER = 0x178d4519;

let made: StoreUnderTest;

beforeAll(async () => {
  made = await createRecordedIndex(import.meta.filename);
});

afterAll(() => made.close());

describe('a block that cannot be interpreted', () => {
  test('delays no other block, and is interpreted once it can be', async () => {
    const { store } = made;
    await store.transaction(({ query }) =>
      query('ALTER TABLE actions ADD CONSTRAINT spoilt CHECK (trace_mc_seqno_end NOT IN (109, 500, 684))'),
    );
    const register = new Registry();
    const interpreter = startInterpreter(store, { register, tuning: { asideMs: 1000 } });
    await expect.poll(() => countInterpretations(store, INTERPRETATION_VERSION).then(({ todo }) => todo)).toBe(3);
    // The last of the three may still be in work: it is put aside a moment after the others.
    await expect.poll(() => metric(register, 'ton_interpreter_put_aside_total')).toBeGreaterThanOrEqual(3);
    const spoilt = await store.read('SELECT mc_seqno FROM interpretations WHERE todo ORDER BY mc_seqno');
    expect(spoilt).toEqual([{ mc_seqno: 109 }, { mc_seqno: 500 }, { mc_seqno: 684 }]);
    await store.transaction(({ query }) => query('ALTER TABLE actions DROP CONSTRAINT spoilt'));
    await untilInterpreted(store);
    await interpreter.close();
  });
});

describe('an account that cannot be examined', () => {
  test('is left out when the failure is its own', async () => {
    const { store } = made;
    const register = new Registry();
    const detector: Detector = { detect: () => Promise.reject(new Error('no detector')) };
    await store.transaction(({ query }) => query('UPDATE interpretations SET todo = true WHERE mc_seqno = 109'));
    const interpreter = startInterpreter(store, { register, detector });
    await untilInterpreted(store);
    await interpreter.close();
    expect(await metric(register, 'ton_interpreter_given_up_total')).toBeGreaterThan(0);
    const [row] = await store.read<{ count: bigint }>('SELECT count(*) FROM actions WHERE trace_mc_seqno_end = 109');
    expect(row!.count).toBeGreaterThan(10n);
  });
});

describe('the transaction that takes passed jettons', () => {
  test('is left out when no reader understands it, and the blocks of those that passed them are interpreted', async () => {
    const { store } = made;
    const passed = `in_msg_hash IN (SELECT hash FROM messages WHERE opcode = ${INTERNAL_TRANSFER})`;
    await store.transaction(async ({ query }) => {
      await query(`UPDATE transactions SET boc = '\\x00' WHERE ${passed}`);
      await query('UPDATE interpretations SET todo = true');
    });
    const register = new Registry();
    const interpreter = startInterpreter(store, { register, tuning: { asideMs: 1000 } });
    await untilInterpreted(store);
    await interpreter.close();
    expect(await metric(register, 'ton_interpreter_put_aside_total')).toBe(0);
  });
});
