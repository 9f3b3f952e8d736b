import { expect, it } from 'vitest';

import { childNames, isReservedSecretName } from '#operator/desired/names.ts';

import { sample } from './samples.ts';

it('the name of each keyring Secret is reserved, and similar names are free', () => {
  const { keyring } = childNames(sample('typical'));
  for (const shard of [0, 9, 10, 65_535]) expect(isReservedSecretName(keyring(shard))).toBe(true);
  for (const name of ['keyring-0', 'a-keyring', 'a-keyring-x', 'a-keyring-0.b']) {
    expect(isReservedSecretName(name)).toBe(false);
  }
});
