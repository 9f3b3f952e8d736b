import { expect, test } from 'vitest';

import type { IndexFacts, IndexState } from '#service/indexer/index-state.ts';
import { indexStateOf } from '#service/indexer/index-state.ts';

const whole: IndexFacts = { lagBlocks: 0, remainingBlocks: 0, idleMs: 0 };
const long = 600_000;

const cases: readonly [string, Partial<IndexFacts>, IndexState][] = [
  ['up to date, it is live', {}, 'Live'],
  ['a few blocks behind, it is live', { lagBlocks: 10 }, 'Live'],
  ['further behind, it catches up', { lagBlocks: 11 }, 'CatchingUp'],
  ['with a past to be written, it catches up', { remainingBlocks: 1 }, 'CatchingUp'],
  ['before anything is known, it catches up', { lagBlocks: undefined, remainingBlocks: undefined }, 'CatchingUp'],
  ['with nothing to write for long, it is live: a network may stand still', { idleMs: long }, 'Live'],
  ['behind, and nothing written for long, it is stalled', { lagBlocks: 1, idleMs: long }, 'Stalled'],
  ['with a past that nobody gets on with, it is stalled', { remainingBlocks: 5, idleMs: long }, 'Stalled'],
  ['with nothing known for long, it is stalled', { lagBlocks: undefined, idleMs: long }, 'Stalled'],
];

test.each(cases)('%s', (_, facts, state) => {
  expect(indexStateOf({ ...whole, ...facts })).toBe(state);
});
