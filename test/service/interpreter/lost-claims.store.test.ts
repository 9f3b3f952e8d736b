import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { countInterpretations, queueInterpretations } from '#service/store/interpretations.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { metric } from '../pool/network.ts';
import { startInterpreter } from './interpreter-under-test.ts';

let made: StoreUnderTest;

beforeAll(async () => {
  made = await createRecordedIndex(import.meta.filename);
});

afterAll(() => made.close());

test('a block that gets a further trace during its interpretation does not delay the other blocks of its claim', async () => {
  const { store } = made;
  const seqnos = [105, 106, 107, 108, 109];
  await store.transaction(async ({ query }) => {
    await query('UPDATE interpretations SET todo = false, version = $1', [INTERPRETATION_VERSION]);
    await query('UPDATE interpretations SET todo = true WHERE mc_seqno = ANY ($1::integer[])', [seqnos]);
  });
  let isJoined = false;
  const detector: Detector = {
    async detect() {
      if (!isJoined) {
        isJoined = true;
        await store.transaction((session) => queueInterpretations(session, [107]));
      }
      return undefined;
    },
  };
  const register = new Registry();
  const interpreter = startInterpreter(store, { register, detector, tuning: { claimMs: 3_600_000 } });
  await expect.poll(() => countInterpretations(store, INTERPRETATION_VERSION).then(({ todo }) => todo)).toBe(0);
  await interpreter.close();
  expect(await metric(register, 'ton_interpreter_lost_blocks_total')).toBeGreaterThan(0);
});
