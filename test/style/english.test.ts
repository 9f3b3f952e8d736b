import { describe, expect, it } from 'vitest';

import { parseSource, readSources, type Source } from './sources.ts';

/** Faults of comments in a folder: banned first words, banned words, sentences of more than 25 words. */
type Faults = readonly [firstWords: number, words: number, longSentences: number];

/** A comment starts with the thing, an imperative, or If/When/Because. */
const firstWordBanned = /^(What|Of|One|Those|Who|Which|Whose|Whom|Where|Whether|As|By)\b/;

/** The field has other words: report, return, cache, evict, simulated, again. */
const wordsBanned = /\b(told|tells?|telling|kept|held|foreseen|nobody|anew|meanwhile)\b/i;

/** The goal is 20 words; a sentence of some more is readable still. */
const sentenceWordsMax = 25;

/** Comments that tools read. */
const directive = /^\s*(oxlint|eslint|@ts-|@vitest|v8 |c8 )/;

/**
 * Most faults of each folder that is not rewritten yet. Every other folder has none. Numbers may only fall: lower them when you rewrite
 * comments, and remove a folder at zero.
 */
const faultsMax: Readonly<Record<string, Faults>> = {
  'test/bench': [67, 34, 17],
  'test/charts': [1, 3, 1],
  'test/crds': [3, 0, 0],
  'test/e2e': [28, 9, 1],
  'test/operator': [14, 2, 0],
  'test/service/actions': [9, 6, 0],
  'test/service/devchain': [15, 10, 3],
  'test/service/http': [7, 3, 1],
  'test/service/indexer': [15, 4, 1],
  'test/service/interpreter': [4, 2, 1],
  'test/service/live': [7, 1, 0],
  'test/service/main': [1, 2, 0],
  'test/service/pending': [5, 3, 0],
  'test/service/store': [12, 3, 0],
  'test/service/v2': [8, 4, 2],
  'test/service/v3': [20, 16, 1],
  'test/support': [58, 30, 17],
};

const sources = readSources('service', 'operator', 'crds', 'charts', 'test').filter(
  (source) => !source.path.endsWith('.gen.ts'),
);

describe('English of comments', () => {
  it('no folder has more faults than its bound', () => {
    const folders = Map.groupBy(sources, (source) => folderOf(source.path));
    const found = [...folders].map(([folder, files]) => [folder, faultsOf(files)] as const);
    const excess = found.filter(([folder, faults]) =>
      faults.some((count, kind) => count > (faultsMax[folder]?.[kind] ?? 0)),
    );
    expect(Object.fromEntries(excess)).toEqual({});
  });

  it.each([
    ['/** Of a block. */', [1, 0, 0]],
    ['// What it told.\n// It was kept.', [1, 1, 0]],
    [`/* ${'word '.repeat(26)} */`, [0, 0, 1]],
    [`/** ${'word '.repeat(20)}. ${'word '.repeat(20)}. */`, [0, 0, 0]],
    [`/** Reads \`held ${'word '.repeat(30)}\`. */`, [0, 0, 0]],
    ["const text = '// What it told';", [0, 0, 0]],
  ])('the faults of %j are %j', (text, expected) => {
    expect(faultsOf([parseSource('sample.ts', text)])).toEqual(expected);
  });
});

/** Returns the folder that counts a file: a stage of the service, the tests of a stage, or the top folder. */
function folderOf(path: string): string {
  const parts = path.split('/');
  const depth = parts[0] === 'service' ? 2 : parts[0] === 'test' ? (parts[1] === 'service' ? 3 : 2) : 1;
  return parts.slice(0, Math.min(depth, parts.length - 1)).join('/');
}

function faultsOf(files: readonly Source[]): Faults {
  const comments = files.flatMap(commentsOf);
  return [
    comments.filter((comment) => firstWordBanned.test(comment)).length,
    comments.filter((comment) => wordsBanned.test(comment)).length,
    comments.flatMap(sentencesOf).filter((sentence) => sentence.split(/\s+/).length > sentenceWordsMax).length,
  ];
}

/** Returns the texts of a file's comments. Consecutive line comments are one text, and quoted code is one word. */
function commentsOf({ text, syntax }: Source): string[] {
  const found: { body: string; readonly isLine: boolean; end: number }[] = [];
  for (const { type, value, start, end } of syntax.comments) {
    if (directive.test(value)) continue;
    const before = found.at(-1);
    if (type === 'Line' && before?.isLine === true && /^\n[ \t]*$/.test(text.slice(before.end, start))) {
      before.body += `\n${value.trim()}`;
      before.end = end;
      continue;
    }
    const body = value.replaceAll(/^[ \t]*\*+ ?/gm, '').trim();
    found.push({ body, isLine: type === 'Line', end });
  }
  return found.map(({ body }) => body.replaceAll(/```[\s\S]*?```|`[^`]*`/g, 'code'));
}

/** Splits a text at ends of sentences, at paragraphs, at entries of lists and at tags such as `@param`. */
function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n\s*\n|\n\s*(?=@\w)|\n\s*- /);
}
