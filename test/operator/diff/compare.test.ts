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

it('an empty text in a map of texts is a value: its removal differs', () => {
  for (const map of ['labels', 'annotations', 'nodeSelector']) {
    expect(compareFields({ [map]: { 'example.com/edge': '' } }, {})).toHaveLength(1);
    expect(compareFields({ [map]: { edge: '' } }, { [map]: {} })).toEqual([
      { path: `${map}.edge`, before: undefined, after: '' },
    ]);
  }
});

it('an empty value of a field with a default leaves the choice to the API server', () => {
  const side = { name: 'side', imagePullPolicy: '', livenessProbe: { periodSeconds: 0 } };
  const live = { name: 'side', imagePullPolicy: 'Always', livenessProbe: { periodSeconds: 10 } };
  expect(compareFields({ containers: [side] }, { containers: [live] })).toEqual([]);
});

it('an empty value without a default is ours, so another value differs', () => {
  const side = {
    name: 'side',
    env: [{ name: 'A', value: '' }],
    ports: [{ containerPort: 9, protocol: 'TCP', hostPort: 0 }],
    runAsUser: 0,
  };
  const live = {
    name: 'side',
    env: [{ name: 'A', value: 'x' }],
    ports: [{ containerPort: 9, protocol: 'TCP', hostPort: 80 }],
  };
  const changes = compareFields({ containers: [side] }, { containers: [live] });
  expect(changes.map(({ after }) => after)).toEqual(['', 0, 0]);
});

it('amounts of resources with a domain in their name are compared as amounts, in thousandths', () => {
  const limits = { 'example.com/gpu': 1, cpu: '100u' };
  expect(compareFields({ spec: { limits } }, { spec: { limits: { 'example.com/gpu': '1', cpu: '1m' } } })).toEqual([]);
});
