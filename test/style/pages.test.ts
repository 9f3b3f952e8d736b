import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { listFiles, projectRoot } from './sources.ts';

/** Second-language readers lose the start of a longer sentence. The goal is 20 words. */
const sentenceWordsMax = 30;

const pages = [
  'README.md',
  ...['service', 'operator', 'charts', 'test'].flatMap((top) => listFiles(top, /^README\.md$/)),
  ...listFiles('charts/docs', /\.md$/),
];

/** Folders of `service/` with sources: the stages. */
const stages = [
  ...new Set(
    listFiles('service', /\.ts$/)
      .filter((path) => path.split('/').length > 2)
      .map((path) => path.split('/')[1] ?? ''),
  ),
];

describe('pages', () => {
  it.each(pages)('the sentences of %s are short', (page) => {
    const text = readFileSync(join(projectRoot, page), 'utf8');
    const long = sentencesOf(text).filter((sentence) => sentence.split(/\s+/).length > sentenceWordsMax);
    expect(long).toEqual([]);
  });

  it('every stage of the service has a page', () => {
    const bare = stages.filter((stage) => !existsSync(join(projectRoot, 'service', stage, 'README.md')));
    expect(stages.length).toBeGreaterThan(20);
    expect(bare).toEqual([]);
  });

  it.each([
    ['One. Two three.', ['One.', 'Two three.']],
    ['First line\nof a sentence. Next.', ['First line of a sentence.', 'Next.']],
    ['- entry\n- entry of a list', ['entry', 'entry of a list']],
    ['Before:\n\n```sh\ncode. code\n```\n\n| a | b |\n', ['Before:']],
  ])('the sentences of %j are %j', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });
});

/** Returns the sentences of a page. Code and tables have none. Paragraphs and entries of lists end a sentence. */
function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/^\s*[|#<].*$/gm, '')
    .split(/\n\s*\n|^\s*(?:[-*]|\d+\.) /m)
    .flatMap((part) => part.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
