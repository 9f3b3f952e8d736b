import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A file that the compiler has read. */
export type CompiledFile = {
  /** Hash of the text. */
  readonly version: string;
  /** Absolute paths of the files that its types depend on directly. */
  readonly uses: readonly string[];
  /** True for a file that may change the types of any other, such as one with `declare global`. */
  readonly isGlobal: boolean;
};

/** Files by absolute path. */
export type CompiledFiles = ReadonlyMap<string, CompiledFile>;

/** Part of the record that `tsc --incremental` writes. Numbers count from 1. */
type BuildRecord = {
  readonly fileNames: readonly string[];
  readonly fileInfos: readonly (string | { readonly version: string; readonly affectsGlobalScope?: boolean })[];
  /** Groups of files, by their numbers. */
  readonly fileIdsList: readonly (readonly number[])[];
  /** For a file that uses others: its number, and the number of their group. */
  readonly referencedMap: readonly (readonly [file: number, group: number])[];
};

/** Reads the record of a compilation without errors. Throws when the compiler writes another form. */
export function readCompiledFiles(path: string): CompiledFiles {
  const { fileNames, fileInfos, fileIdsList, referencedMap } = JSON.parse(readFileSync(path, 'utf8')) as BuildRecord;
  const paths = fileNames.map((name) => resolve(dirname(path), name));
  const groups = new Map(referencedMap);
  return new Map(
    paths.map((file, at) => {
      const info = fileInfos[at]!;
      const { version, affectsGlobalScope = false } = typeof info === 'string' ? { version: info } : info;
      const group = groups.get(at + 1);
      const uses = group === undefined ? [] : fileIdsList[group - 1]!.map((number) => paths[number - 1]!);
      return [file, { version, uses, isGlobal: affectsGlobalScope }];
    }),
  );
}

/**
 * Returns the files whose types may differ since other versions: changed files, and all files that use them, directly or not.
 * A file that is gone, and a changed file that is global, affect all files.
 */
export function affectedFiles(versions: ReadonlyMap<string, string>, files: CompiledFiles): ReadonlySet<string> {
  const changed = [...files].filter(([path, { version }]) => versions.get(path) !== version);
  const isGone = [...versions.keys()].some((path) => !files.has(path));
  if (isGone || changed.some(([, { isGlobal }]) => isGlobal)) return new Set(files.keys());
  const users = Map.groupBy(
    [...files].flatMap(([user, { uses }]) => uses.map((used) => ({ user, used }))),
    ({ used }) => used,
  );
  const affected = new Set(changed.map(([path]) => path));
  for (const path of affected) for (const { user } of users.get(path) ?? []) affected.add(user);
  return affected;
}

/** Returns the sources that a change since other versions affects, and those that the compiler does not read, as absolute paths. */
export function filesToLint(
  sources: readonly string[],
  versions: ReadonlyMap<string, string>,
  files: CompiledFiles,
): string[] {
  const affected = affectedFiles(versions, files);
  return sources.filter((path) => !files.has(path) || affected.has(path));
}
