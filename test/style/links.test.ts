import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { listFiles, projectRoot } from './sources.ts';

const folders = ['service', 'operator', 'crds', 'charts', 'test'];

const pages = ['README.md', 'CHANGELOG.md', ...folders.flatMap(markdownOf)];

function markdownOf(folder: string): string[] {
  return listFiles(folder, /\.md$/).filter((path) => !path.startsWith('test/vectors/'));
}

describe('links', () => {
  it.each(pages)('of %s resolve to files, folders and headings that exist', (page) => {
    const text = readFileSync(join(projectRoot, page), 'utf8');
    const broken = [...text.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        return !resolves(path === '' ? page : join(dirname(page), path), anchor);
      });
    expect(broken).toEqual([]);
  });

  it.each(folders)('of sources in %s to pages resolve to headings that exist', (folder) => {
    const broken = listFiles(folder, /\.ts$/).flatMap((source) =>
      [...readFileSync(join(projectRoot, source), 'utf8').matchAll(/((?:[\w.-]+\/)*README\.md)(?:#([\w-]+))?/g)]
        .filter(([, path = '', anchor]) => path.includes('/') && !path.startsWith('.') && !resolves(path, anchor))
        .map(([link]) => `${source}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

/** Reports whether a file or folder exists and, if an anchor is given, has that heading. */
function resolves(path: string, anchor: string | undefined): boolean {
  if (!existsSync(join(projectRoot, path))) return false;
  return anchor === undefined || headingsOf(path).has(anchor);
}

const headings = new Map<string, ReadonlySet<string>>();

function headingsOf(path: string): ReadonlySet<string> {
  let found = headings.get(path);
  if (found === undefined) {
    const text = readFileSync(join(projectRoot, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
    found = new Set([...text.matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1] ?? '')));
    headings.set(path, found);
  }
  return found;
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
