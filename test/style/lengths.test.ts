import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

import { listFiles, readSources } from './sources.ts';

/** A file is one concept: past this many lines it holds two. Tables of data in tests count too. */
const fileLinesMax = 500;

/** A function is read on one screen and a bit. */
const functionLinesMax = 80;

const sources = readSources('service', 'operator', 'test', 'crds').filter((source) => !source.path.endsWith('.gen.ts'));

describe('lengths', () => {
  it('of files stay within the bound', () => {
    const long = sources
      .map((source) => ({ path: source.path, lines: source.text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > fileLinesMax);
    expect(long).toEqual([]);
  });

  it('of functions stay within the bound, suites of tests aside', () => {
    const long = sources
      .filter((source) => !source.path.endsWith('.test.ts'))
      .flatMap((source) => functionLengths(source.path, source.text))
      .filter(({ lines }) => lines > functionLinesMax);
    expect(long).toEqual([]);
  });

  it('have names that say what a file holds', () => {
    const vague = listFiles('service', /\.ts$/).filter((path) =>
      /(^|\/)(utils?|common|helpers?|misc|shared|lib|types|core)(\/|\.ts$)/.test(path),
    );
    expect(vague).toEqual([]);
  });
});

type SyntaxNode = { type: string; start: number; end: number; [key: string]: unknown };

function functionLengths(path: string, text: string): { where: string; lines: number }[] {
  const found: { where: string; lines: number }[] = [];
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    if (!isNode(value)) return;
    if (/Function/.test(value.type) && !isFactory(value)) {
      const first = lineOf(value.start);
      found.push({ where: `${path}:${first}`, lines: lineOf(value.end) - first + 1 });
    }
    for (const [key, child] of Object.entries(value)) if (key !== 'parent') visit(child);
  };
  visit(parseSync(path, text).program);
  return found;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** `createX` is a closure that holds a part's functions, as a class would: its functions are judged, not their sum. */
function isFactory(node: SyntaxNode): boolean {
  const id = node['id'] as { name?: string } | null | undefined;
  return node.type === 'FunctionDeclaration' && /^create[A-Z]/.test(id?.name ?? '');
}
