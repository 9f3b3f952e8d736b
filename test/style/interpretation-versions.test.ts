import { describe, expect, it } from 'vitest';

import { actionVersions, type ActionVersions } from '#service/interpreter/versions.gen.ts';
import {
  foundDefinitions,
  generateInterpretationVersions,
  nextVersions,
  type FoundDefinitions,
} from '#test/support/interpretation-versions.ts';

import { readSources } from './sources.ts';

const before: ActionVersions = {
  shared: { version: 3, hash: 's' },
  order: ['a.one', 'b.one', 'b.two'],
  families: {
    a: { version: 2, hash: 'a1', opcodes: [1] },
    b: { version: 4, hash: 'b1', opcodes: [2, 3] },
  },
};
const same: FoundDefinitions = {
  shared: 's',
  order: before.order,
  families: { a: { hash: 'a1', opcodes: [1] }, b: { hash: 'b1', opcodes: [2, 3] } },
};
const withFamily = (name: string, hash: string, opcodes: readonly number[] | null): FoundDefinitions => ({
  ...same,
  families: { ...same.families, [name]: { hash, opcodes } },
});

const rest = (one: FoundDefinitions) => ({ ...one, families: { ...one.families, vesting: null } });

describe('versions of actions', () => {
  it('are the ones that `npm run generate` makes from the sources', async () => {
    expect(await generateInterpretationVersions({ check: true })).toEqual([
      { path: 'service/interpreter/versions.gen.ts', clean: true },
    ]);
  });

  it('stay without a change', () => {
    expect(nextVersions(before, same, 1)).toEqual(before);
  });

  it('rise above all others for a changed family alone, which keeps its earlier opcodes', () => {
    const { shared, families } = nextVersions(before, withFamily('a', 'a2', [7]), 1);
    expect(shared).toEqual(before.shared);
    expect(families).toEqual({ ...before.families, a: { version: 5, hash: 'a2', opcodes: [1, 7] } });
    expect(nextVersions(before, withFamily('a', 'a2', null), 9).families['a']).toEqual({
      version: 10,
      hash: 'a2',
      opcodes: null,
    });
  });

  it('rise for a new family and for a family that has gone', () => {
    expect(nextVersions(before, withFamily('c', 'c1', [9]), 1).families['c']).toEqual({
      version: 5,
      hash: 'c1',
      opcodes: [9],
    });
    const { b } = same.families;
    const gone = nextVersions(before, { ...same, order: ['b.one', 'b.two'], families: { b: b! } }, 1);
    expect(gone.families['a']).toEqual({ version: 5, hash: '', opcodes: [1] });
    expect(nextVersions(gone, { ...same, order: ['b.one', 'b.two'], families: { b: b! } }, 1)).toEqual(gone);
  });

  it('rise for all families when shared code or the order of two matchers changes', () => {
    expect(nextVersions(before, { ...same, shared: 't' }, 1).shared).toEqual({ version: 5, hash: 't' });
    const order = ['b.two', 'a.one', 'b.one'];
    expect(nextVersions(before, { ...same, order }, 1).shared).toEqual({ version: 5, hash: 's' });
    const added = ['a.one', 'c.one', 'b.one', 'b.two'];
    expect(nextVersions(before, { ...same, order: added }, 1).shared).toEqual(before.shared);
  });

  it('stay with their new hash when no row changes', () => {
    const { shared, families } = nextVersions(before, { ...withFamily('a', 'a2', [7]), shared: 't' }, 1, true);
    expect(shared).toEqual({ version: 3, hash: 't' });
    expect(families['a']).toEqual({ version: 2, hash: 'a2', opcodes: [1, 7] });
  });

  it('have a hash that depends on code alone: comments and words for people do not change it, a number of a pattern does', () => {
    const sources = readSources('service/actions');
    const path = 'service/actions/protocols/vesting.ts';
    const changed = (from: string, to: string): FoundDefinitions =>
      foundDefinitions(
        sources.map((source) =>
          source.path === path ? { ...source, text: source.text.replace(from, () => to) } : source,
        ),
      );
    const found = foundDefinitions(sources);
    expect(changed('\nconst ', '\n// A comment.\n\nconst ')).toEqual(found);
    expect(changed("'Vesting message'", "'Message out of a vesting'")).toEqual(found);
    const other = changed('0xa7733acd', '0xa7733ace');
    expect(other.families['vesting']!.hash).not.toBe(found.families['vesting']!.hash);
    expect(rest(other)).toEqual(rest(found));
  });

  it('name every family once, with a file of its own', () => {
    expect(Object.keys(actionVersions.families).length).toBeGreaterThan(20);
    const hashes = Object.values(actionVersions.families).map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
