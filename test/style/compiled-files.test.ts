import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { affectedFiles, filesToLint, readCompiledFiles, type CompiledFile } from './compiled-files.ts';
import { projectRoot } from './sources.ts';

let folder = '';
let files: ReadonlyMap<string, CompiledFile>;

const texts = {
  'base.ts': 'export type Base = { readonly id: number };',
  'user.ts': "import type { Base } from './base.ts';\nexport const user: Base = { id: 1 };",
  'far.ts': "export * from './user.ts';",
  'quoted.ts': "export type Quoted = import('./base.ts').Base;",
  'alone.ts': 'export const alone = true;',
  'global.ts': 'declare global {\n  var wide: string;\n}\nexport {};',
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-compiled-'));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  const compilerOptions = { noEmit: true, allowImportingTsExtensions: true, module: 'nodenext', types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const compiler = join(projectRoot, 'node_modules/.bin/tsc');
  execFileSync(compiler, ['-p', folder, '--incremental', '--tsBuildInfoFile', join(folder, 'record.json')]);
  files = readCompiledFiles(join(folder, 'record.json'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const versionsOf = (all: ReadonlyMap<string, CompiledFile>): Map<string, string> =>
  new Map([...all].map(([path, { version }]) => [path, version]));

/** Names of the affected files of the folder, when these files had other texts before. */
function affectedBy(...names: readonly (keyof typeof texts)[]): string[] {
  const versions = versionsOf(files);
  for (const name of names) versions.set(join(folder, name), 'another');
  return namesOf(affectedFiles(versions, files));
}

const namesOf = (paths: ReadonlySet<string>): string[] =>
  [...paths]
    .filter((path) => !basename(path).startsWith('lib.'))
    .map((path) => basename(path))
    .toSorted();

describe('Files that a change affects', () => {
  it('are none when no file changed', () => {
    expect(affectedBy()).toEqual([]);
  });

  it('are the file itself when no other file uses it', () => {
    expect(affectedBy('alone.ts')).toEqual(['alone.ts']);
  });

  it('are all that use the changed file, through other files and in types too', () => {
    expect(affectedBy('base.ts')).toEqual(['base.ts', 'far.ts', 'quoted.ts', 'user.ts']);
    expect(affectedBy('user.ts')).toEqual(['far.ts', 'user.ts']);
  });

  it('are all files when a file with global declarations changed', () => {
    expect(affectedBy('global.ts')).toEqual(Object.keys(texts).toSorted());
  });

  it('are all files when a file is gone, and when no version is known', () => {
    const versions = versionsOf(files);
    expect(affectedFiles(versions.set('/gone.ts', '1'), files).size).toBe(files.size);
    expect(affectedFiles(new Map(), files).size).toBe(files.size);
  });
});

describe('Files to lint', () => {
  it('are the affected ones, and always those that the compiler does not read', () => {
    const sources = ['alone.ts', 'base.ts', 'user.ts', 'script.js'].map((name) => join(folder, name));
    const versions = versionsOf(files);
    const linted = (): string[] => filesToLint(sources, versions, files).map((path) => basename(path));
    expect(linted()).toEqual(['script.js']);
    versions.set(join(folder, 'user.ts'), 'another');
    expect(linted()).toEqual(['user.ts', 'script.js']);
    versions.clear();
    expect(linted()).toEqual(['alone.ts', 'base.ts', 'user.ts', 'script.js']);
  });
});
