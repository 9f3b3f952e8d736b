import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { listFiles, projectRoot } from './sources.ts';

const pages = ['README.md', 'CHANGELOG.md', ...['service', 'operator', 'crds', 'charts', 'test'].flatMap(markdownOf)];

function markdownOf(folder: string): string[] {
  return listFiles(folder, /\.md$/).filter((path) => !path.startsWith('test/vectors/'));
}

describe('links', () => {
  it.each(pages)('of %s resolve to files, folders and headings that exist', (page) => {
    const text = readFileSync(join(projectRoot, page), 'utf8');
    const broken = [...text.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !resolves(page, link));
    expect(broken).toEqual([]);
  });
});

function resolves(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(projectRoot, target))) return false;
  if (anchor === undefined) return true;
  const headings = readFileSync(join(projectRoot, target), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].some((match) => slug(match[1] ?? '') === anchor);
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
