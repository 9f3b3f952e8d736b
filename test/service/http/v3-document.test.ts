import { describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';

import { describeV3 } from '#service/http/openapi-v3.ts';
import { v3Families } from '#service/main/wiring/v3-families.ts';
import { createV3 } from '#service/v3/v3.ts';
import { documentDifferences } from '#test/support/v2-differences.ts';
import { knownV3Differences } from '#test/support/v3-differences.ts';
import { v3Reference } from '#test/support/v3-reference.ts';
import type { OpenApi } from './reference.ts';

/** Operations are data: what they would ask is never asked for their document. */
const nobody = new Proxy({}, { get: () => ({}) });

const v3 = createV3(
  v3Families({ network: 'mainnet' }, nobody as never, nobody as never, {
    clock: () => 0,
    random: () => 0,
    register: new Registry(),
  }).operations,
  {
    store: nobody as never,
    nowMs: () => 0,
    register: new Registry(),
  },
);
const ours = JSON.parse(JSON.stringify(describeV3(v3))) as OpenApi;

describe('the document of v3', () => {
  it('agrees with the published one but for a list of differences, each with its reason', () => {
    const found = documentDifferences(ours, v3Reference);
    expect(found.filter((place) => !knownV3Differences.some(({ at }) => at.test(place)))).toEqual([]);
  });

  it('has every difference of the list', () => {
    const found = documentDifferences(ours, v3Reference);
    const gone = knownV3Differences.filter(({ at }) => !found.some((place) => at.test(place)));
    expect(gone.map(({ why }) => why)).toEqual([]);
  });
});

describe('operations of v3', () => {
  it('have names and parameters of their own, whatever the case', () => {
    const names = v3.operations.flatMap(({ name, aliases }) => [name, ...aliases]).map((name) => name.toLowerCase());
    expect(names).toEqual([...new Set(names)]);
    for (const { parameters } of v3.operations) {
      const given = parameters.map(({ name }) => name);
      expect(given).toEqual([...new Set(given)]);
    }
  });

  it('refer to schemas that are there', () => {
    const text = JSON.stringify(ours);
    const wanted = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
    expect(wanted.filter((name) => ours.components.schemas[name] === undefined)).toEqual([]);
  });
});
