import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { parseSync, type ParseResult, type StaticImport } from 'oxc-parser';

export const projectRoot = resolve(import.meta.dirname, '../..');

/** A TypeScript source of the project. Files of one thread share its syntax. */
export type Source = {
  /** Path from the root. */
  readonly path: string;
  readonly text: string;
  /** The file is parsed at the first use, and the parser makes the tree at its own first use. */
  readonly syntax: ParseResult;
  readonly imports: readonly SourceImport[];
};

export type SourceImport = {
  /** Specifier in the import statement. */
  readonly specifier: string;
  /** Path from the root when it is one of ours; undefined for a package. */
  readonly target: string | undefined;
};

const known = new Map<string, Source>();

/** All sources below the given top folders, sorted by path. */
export function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) => listFiles(folder, /\.ts$/)).map(readSource);
}

function readSource(path: string): Source {
  const text = readFileSync(join(projectRoot, path), 'utf8');
  const before = known.get(path);
  if (before?.text === text) return before;
  const source = parseSource(path, text);
  known.set(path, source);
  return source;
}

/** Paths from the root of the files below `folder` whose name matches, sorted; none when the folder is absent. */
export function listFiles(folder: string, name: RegExp): string[] {
  let entries;
  try {
    entries = readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile() && name.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .toSorted();
}

export function parseSource(path: string, text: string): Source {
  let syntax: ParseResult | undefined;
  let imports: readonly SourceImport[] | undefined;
  return {
    path,
    text,
    get syntax() {
      return (syntax ??= parseSync(path, text));
    },
    get imports() {
      return (imports ??= importsOf(path, this.syntax.module));
    },
  };
}

function importsOf(path: string, module: ParseResult['module']): readonly SourceImport[] {
  const specifiers = [
    ...module.staticImports.map((entry: StaticImport) => entry.moduleRequest.value),
    ...module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((item) => (item.moduleRequest === null ? [] : [item.moduleRequest.value])),
    ),
  ];
  return specifiers.map((specifier) => ({ specifier, target: resolveOurs(path, specifier) }));
}

function resolveOurs(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return undefined;
  return relative(projectRoot, resolve(projectRoot, dirname(from), specifier));
}
