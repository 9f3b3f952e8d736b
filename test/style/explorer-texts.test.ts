import { describe, expect, it } from 'vitest';

import { words } from '#service/explorer/app/texts.ts';
import { readSources } from './sources.ts';

const sources = readSources('service/explorer/app').filter(({ path }) => !/\/(texts|thing-words)\.ts$/.test(path));

/** Paths of all texts: `block.proof.title`. */
function pathsOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [path.join('.')];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]));
}

/** A constant that stands for a part of the texts: `const names = words.block;`, `const { places } = words.search;`. */
const alias = /\bconst (?:(\w+)|\{ ([^}=]+) \}) = (\w+)((?:\.\w+)*);/g;

/** Paths that a source reads. A path to more than one text, such as `words.trace.states[state]`, reads all of them. */
function readPaths(code: string): string[] {
  const partsByName = new Map([['words', [[] as string[]]]]);
  const rest = code.replaceAll(alias, (whole, single: string | undefined, several = '', root = '', tail = '') => {
    const bases = partsByName.get(root as string)?.map((base) => [...base, ...(tail as string).split('.').slice(1)]);
    if (bases === undefined) return whole;
    const named = single === undefined ? (several as string).split(/,\s*/) : [single];
    for (const one of named) {
      const [key = '', name = key] = one.split(/:\s*/);
      const paths = single === undefined ? bases.map((base) => [...base, key]) : bases;
      partsByName.set(name, [...(partsByName.get(name) ?? []), ...paths]);
    }
    return '';
  });
  return [...rest.matchAll(/(?<![\w.])(\w+)((?:\s*\.\w+)*)/g)].flatMap(([, root = '', tail = '']) =>
    (partsByName.get(root) ?? []).map((base) => [...base, ...tail.split(/\s*\./).slice(1)].join('.')),
  );
}

/** `a.b.c` -> `a`, `a.b`, `a.b.c`. */
const beginnings = (path: string): string[] => path.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'));

function unusedPaths(all: readonly string[], codes: readonly string[]): string[] {
  const read = new Set(codes.flatMap(readPaths));
  return all.filter((path) => !beginnings(path).some((beginning) => read.has(beginning)));
}

describe('the texts of the explorer', () => {
  it('are each shown by some page', () => {
    const codes = sources.map(({ text }) => text);
    expect(unusedPaths(pathsOf(words), codes)).toEqual([]);
  });

  it.each([
    ['read by a constant', 'const names = words.a;\nhtml`${names.b}`'],
    ['read by its own name', 'const { b } = words.a;\nhtml`${b}`'],
    ['read by another name', 'const { b: title } = words.a;\nhtml`${title}`'],
    ['chosen by a value', 'html`${words.a[kind]}`'],
  ])('count as shown when %s', (_how, code) => {
    expect(unusedPaths(['a.b', 'c.d'], [code])).toEqual(['c.d']);
  });
});
