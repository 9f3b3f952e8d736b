import { expect, it } from 'vitest';

import { compareFields, withLiveFields } from '#operator/diff/compare.ts';

it('texts that are equal as amounts differ in a field that is no amount', () => {
  expect(compareFields({ spec: { name: '1000m' } }, { spec: { name: '1' } })).toEqual([
    { path: 'spec.name', before: '1', after: '1000m' },
  ]);
});

it('an empty text equals a field that the API server dropped', () => {
  expect(compareFields({ spec: { name: '' } }, { spec: {} })).toEqual([]);
});

it('an ignored field of a list element that live lacks has its wanted value', () => {
  const desired = { containers: [{ name: 'api', image: 'a' }] };
  expect(withLiveFields(desired, { containers: [] }, (path) => path === 'containers[api].image')).toEqual(desired);
});
