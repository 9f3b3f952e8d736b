import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { parseSync, type ParseResult, type StaticImport } from 'oxc-parser';

export const projectRoot = resolve(import.meta.dirname, '../..');

/** A TypeScript source of the project: its path from the root, its text, its syntax, and the files of ours that it imports. */
export type Source = {
  readonly path: string;
  readonly text: string;
  /** The parser makes the tree at its first use. */
  readonly syntax: ParseResult;
  readonly imports: readonly SourceImport[];
};

export type SourceImport = {
  /** Specifier in the import statement. */
  readonly specifier: string;
  /** Path from the root when it is one of ours; undefined for a package. */
  readonly target: string | undefined;
};

/** All sources below the given top folders, sorted by path. */
export function readSources(...folders: string[]): Source[] {
  return folders
    .flatMap((folder) => listFiles(folder, /\.ts$/))
    .map((path) => parseSource(path, readFileSync(join(projectRoot, path), 'utf8')));
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
  const syntax = parseSync(path, text);
  const { module } = syntax;
  const specifiers = [
    ...module.staticImports.map((entry: StaticImport) => entry.moduleRequest.value),
    ...module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((item) => (item.moduleRequest === null ? [] : [item.moduleRequest.value])),
    ),
  ];
  return {
    path,
    text,
    syntax,
    imports: specifiers.map((specifier) => ({ specifier, target: resolveOurs(path, specifier) })),
  };
}

function resolveOurs(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return undefined;
  return relative(projectRoot, resolve(projectRoot, dirname(from), specifier));
}
