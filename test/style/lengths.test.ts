import { dirname } from 'node:path';

import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

import { listFiles, readSources } from './sources.ts';

/** A source file is one concept: past this many lines it has two. */
const sourceLinesMax = 399;

/** A test file may have tables of data. */
const testLinesMax = 500;

/** A function is read on one screen and a bit. */
const functionLinesMax = 80;

/** `createX` is a closure with the functions of a part, as a class would be. Each of its functions has the bound of a function. */
const factoryLinesMax = 150;

/** Named functions of a factory. More are two parts, or pure functions that need no closure. */
const factoryFunctionsMax = 8;

/** Source files of one folder. A larger folder needs sub-folders that name its steps. */
const folderFilesMax = 45;

/** Folders without sub-folders. The parts of the pool use each other, so sub-folders would import each other. */
const flatFolders = ['service/pool'];

const sources = readSources('service', 'operator', 'test', 'crds').filter((source) => !source.path.endsWith('.gen.ts'));

describe('lengths', () => {
  it('of files stay within the bound', () => {
    const long = sources
      .map((source) => ({ path: source.path, lines: source.text.split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > (path.startsWith('test/') ? testLinesMax : sourceLinesMax));
    expect(long).toEqual([]);
  });

  it('of functions and factories stay within their bounds, suites of tests aside', () => {
    const long = sources
      .filter((source) => !source.path.endsWith('.test.ts'))
      .flatMap((source) => longFunctionsOf(source.path, source.text));
    expect(long).toEqual([]);
  });

  it('of factories stay within the bound of inner functions', () => {
    const wide = sources
      .filter((source) => !source.path.endsWith('.test.ts'))
      .flatMap(({ path, text }) => factoriesOf(path, text).map((factory) => ({ path, ...factory })))
      .filter(({ functions }) => functions.length > factoryFunctionsMax);
    expect(wide).toEqual([]);
  });

  it('of a factory count declared functions and functions in constants, without those of other functions', () => {
    const text = `
      function createPart() {
        const a = () => { function within() {} };
        const b = function () {}, c = 1;
        async function d() {}
        return { e() {}, f: () => 1 };
      }
      function other() { function g() {} }
      const within = () => { function createInner() { function h() {} } };`;
    expect(factoriesOf('part.ts', text)).toEqual([
      { name: 'createPart', functions: ['a', 'b', 'd'] },
      { name: 'createInner', functions: ['h'] },
    ]);
  });

  it('of folders stay within the bound of files', () => {
    const folders = Map.groupBy(
      sources.filter(({ path }) => !path.startsWith('test/')),
      ({ path }) => dirname(path),
    );
    const wide = [...folders]
      .map(([folder, files]) => ({ folder, files: files.length }))
      .filter(({ folder, files }) => files > folderFilesMax && !flatFolders.includes(folder));
    expect(wide).toEqual([]);
  });

  it('have names that say what a file holds', () => {
    const vague = listFiles('service', /\.ts$/).filter((path) =>
      /(^|\/)(utils?|common|helpers?|misc|shared|lib|types|core)(\/|\.ts$)/.test(path),
    );
    expect(vague).toEqual([]);
  });
});

type SyntaxNode = { type: string; start: number; end: number; [key: string]: unknown };

function longFunctionsOf(path: string, text: string): { where: string; lines: number }[] {
  return nodesOf(path, text)
    .filter(({ type }) => /Function/.test(type))
    .filter((node) => linesOf(text, node.start, node.end) > (isFactory(node) ? factoryLinesMax : functionLinesMax))
    .map(({ start, end }) => ({
      where: `${path}:${linesOf(text, 0, start)}`,
      lines: linesOf(text, start, end),
    }));
}

/** Returns the factories of a source with the names of their inner functions. */
function factoriesOf(path: string, text: string): { name: string; functions: string[] }[] {
  return nodesOf(path, text)
    .filter(isFactory)
    .map((node) => ({ name: nameOf(node), functions: bodyOf(node).flatMap(functionsOf) }));
}

/** Returns the names of the functions that a statement declares. */
function functionsOf(statement: SyntaxNode): string[] {
  if (statement.type === 'FunctionDeclaration') return [nameOf(statement)];
  if (statement.type !== 'VariableDeclaration') return [];
  return (statement['declarations'] as readonly SyntaxNode[])
    .filter(({ init }) => isNode(init) && /FunctionExpression/.test(init.type))
    .map(nameOf);
}

function bodyOf(node: SyntaxNode): readonly SyntaxNode[] {
  return (node['body'] as { body: readonly SyntaxNode[] }).body;
}

function nameOf({ id }: SyntaxNode): string {
  return (id as { name?: string } | null | undefined)?.name ?? '';
}

/** Returns every node of a source, outer nodes before inner ones. */
function nodesOf(path: string, text: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    if (!isNode(value)) return;
    found.push(value);
    for (const [key, child] of Object.entries(value)) if (key !== 'parent') visit(child);
  };
  visit(parseSync(path, text).program);
  return found;
}

function linesOf(text: string, start: number, end: number): number {
  return text.slice(start, end).split('\n').length;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

function isFactory(node: SyntaxNode): boolean {
  return node.type === 'FunctionDeclaration' && /^create[A-Z]/.test(nameOf(node));
}
