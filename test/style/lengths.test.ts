import { dirname } from 'node:path';

import { Visitor, type ArrowFunctionExpression, type Function, type Statement, type TSFunctionType } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

import { listFiles, parseSource, readSources, type Source } from './sources.ts';

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

const sources = readSources('service', 'operator', 'test', 'crds').filter((source) => !source.path.endsWith('.gen.ts'));

/** Functions of all sources but suites of tests. */
const functions = sources.filter((source) => !source.path.endsWith('.test.ts')).flatMap(functionsIn);

describe('lengths', () => {
  it('of files stay within the bound', () => {
    const long = sources
      .map((source) => ({ path: source.path, lines: source.text.split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > (path.startsWith('test/') ? testLinesMax : sourceLinesMax));
    expect(long).toEqual([]);
  });

  it('of functions and factories stay within their bounds, suites of tests aside', () => {
    const long = functions
      .map(({ source: { path, text }, node }) => ({
        where: `${path}:${linesOf(text, 0, node.start)}`,
        lines: linesOf(text, node.start, node.end),
        linesMax: isFactory(node) ? factoryLinesMax : functionLinesMax,
      }))
      .filter(({ lines, linesMax }) => lines > linesMax);
    expect(long).toEqual([]);
  });

  it('of factories stay within the bound of inner functions', () => {
    const wide = factoriesOf(functions).filter((factory) => factory.functions.length > factoryFunctionsMax);
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
    expect(factoriesOf(functionsIn(parseSource('part.ts', text)))).toEqual([
      { path: 'part.ts', name: 'createPart', functions: ['a', 'b', 'd'] },
      { path: 'part.ts', name: 'createInner', functions: ['h'] },
    ]);
  });

  it('of folders stay within the bound of files', () => {
    const folders = Map.groupBy(
      sources.filter(({ path }) => !path.startsWith('test/')),
      ({ path }) => dirname(path),
    );
    const wide = [...folders]
      .map(([folder, files]) => ({ folder, files: files.length }))
      .filter(({ files }) => files > folderFilesMax);
    expect(wide).toEqual([]);
  });

  it('have names that say what a file holds', () => {
    const vague = listFiles('service', /\.ts$/).filter((path) =>
      /(^|\/)(utils?|common|helpers?|misc|shared|lib|types|core)(\/|\.ts$)/.test(path),
    );
    expect(vague).toEqual([]);
  });
});

type FunctionNode = Function | ArrowFunctionExpression | TSFunctionType;
type FoundFunction = { readonly source: Source; readonly node: FunctionNode };

/** Returns the functions of a source, and types of functions, outer ones before inner ones. */
function functionsIn(source: Source): FoundFunction[] {
  const found: FoundFunction[] = [];
  const add = (node: FunctionNode): void => void found.push({ source, node });
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    TSDeclareFunction: add,
    TSEmptyBodyFunctionExpression: add,
    TSFunctionType: add,
  }).visit(source.syntax.program);
  return found;
}

/** Returns the factories among functions, with the names of their inner functions. */
function factoriesOf(all: readonly FoundFunction[]): { path: string; name: string; functions: string[] }[] {
  return all.flatMap(({ source: { path }, node }) =>
    isFactory(node) ? [{ path, name: node.id?.name ?? '', functions: (node.body?.body ?? []).flatMap(namesOf) }] : [],
  );
}

/** Returns the names of the functions that a statement declares. */
function namesOf(statement: Statement): string[] {
  if (statement.type === 'FunctionDeclaration') return [statement.id?.name ?? ''];
  if (statement.type !== 'VariableDeclaration') return [];
  return statement.declarations
    .filter(({ init }) => init?.type === 'FunctionExpression' || init?.type === 'ArrowFunctionExpression')
    .map(({ id }) => (id.type === 'Identifier' ? id.name : ''));
}

function linesOf(text: string, start: number, end: number): number {
  return text.slice(start, end).split('\n').length;
}

function isFactory(node: FunctionNode): node is Function {
  return node.type === 'FunctionDeclaration' && /^create[A-Z]/.test(node.id?.name ?? '');
}
