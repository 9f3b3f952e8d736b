import { expect, test } from 'vitest';

import { interpretationVersions, joinVersions } from '#service/interpreter/options.ts';

const shared = { version: 3, hash: 's' };

test('Changes of detection, of shared code and of families without opcodes concern all blocks', () => {
  const families = {
    rare: { version: 6, hash: 'r', opcodes: [1, 2] },
    early: { version: 4, hash: 'e', opcodes: [3] },
    common: { version: 5, hash: 'c', opcodes: null },
  };
  expect(joinVersions(2, { shared, families })).toEqual({
    facts: 2,
    newest: 6,
    whole: 5,
    partial: [{ version: 6, opcodes: [1, 2] }],
  });
  expect(joinVersions(7, { shared, families })).toEqual({ facts: 7, newest: 7, whole: 7, partial: [] });
});

test('The newest version is above no change that a block could miss', () => {
  const { newest, whole, partial } = interpretationVersions;
  expect(newest).toBe(Math.max(whole, ...partial.map(({ version }) => version)));
  expect(newest).toBeLessThan(32_768);
});
