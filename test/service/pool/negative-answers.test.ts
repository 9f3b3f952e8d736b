import { describe, expect, test } from 'vitest';

import { answeredError, LiteServerError } from '#service/liteserver/errors.ts';
import { createNegativeAnswers } from '#service/pool/negative-answers.ts';
import { commonAbsence } from '#service/pool/verdict.ts';

const pruned = answeredError('lookupBlock', 651, 'block is not in db');
const lagging = answeredError('lookupBlock', 651, 'block is not in db (last known masterchain block: 7)');
const overloaded = answeredError('lookupBlock', -503, 'timeout');
const unreachable = new LiteServerError('unreachable', { serverCode: undefined, text: 'x', function: 'lookupBlock' });

test('a refusal is cached for a second by the clock, and no longer', () => {
  let nowMs = 0;
  const negatives = createNegativeAnswers({ now: () => nowMs });
  negatives.add('a', pruned);
  nowMs = 999;
  expect(negatives.get('a')).toBe(pruned);
  expect(negatives.get('b')).toBeUndefined();
  nowMs = 1_000;
  expect(negatives.get('a')).toBeUndefined();
  expect(negatives.size()).toBe(0);
});

test('a scan of missing data caches a bounded number of refusals, the last ones', () => {
  const negatives = createNegativeAnswers({ now: () => 0 });
  for (let index = 0; index < 10_000; index += 1) negatives.add(`${index}`, pruned);
  expect(negatives.size()).toBe(4_096);
  expect(negatives.get('9999')).toBe(pruned);
  expect(negatives.get('0')).toBeUndefined();
});

describe('it is missing only when every lite server that was asked says so', () => {
  test.each([
    ['all of them do', [pruned, pruned], true],
    ['one lags', [pruned, lagging], false],
    ['one is overloaded', [pruned, overloaded], false],
    ['one cannot be reached', [unreachable, pruned], false],
    ['all lag', [lagging], false],
    ['no server was asked', [], false],
  ] as const)('data are missing only when every asked lite server says so: %s', (_what, errors, isMissing) => {
    expect(commonAbsence(errors) !== undefined).toBe(isMissing);
  });
});
