import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { filesToLint, readCompiledFiles, type CompiledFile, type CompiledFiles } from './compiled-files.ts';

// Lints the sources that a change since the last green lint affects, and the files that the compiler does not read.
// All sources take longer than the other parts of `npm run check`. The compiler runs first: its records name the changes.

const records = ['node_modules/.cache/types.tsbuildinfo', 'node_modules/.cache/types-explorer.tsbuildinfo'];
const greenPath = 'node_modules/.cache/lint.json';

/** State of the sources at the last green lint. */
type Green = {
  readonly settings: string;
  /** Hash of each compiled file, by path. */
  readonly versions: Readonly<Record<string, string>>;
};

/** Returns a hash of the files that decide how any source is linted. */
function settingsHash(): string {
  const hash = createHash('sha256');
  const paths = ['.oxlintrc.json', 'package-lock.json', ...globSync('{tsconfig.json,{service,test}/**/tsconfig.json}')];
  for (const path of paths) hash.update(`${path}\n${readFileSync(path, 'utf8')}`);
  return hash.digest('hex');
}

/** A source of the explorer may be in both records. */
function compiledFiles(): CompiledFiles {
  const files = new Map<string, CompiledFile>();
  for (const [path, file] of records.flatMap((record) => [...readCompiledFiles(record)])) {
    files.set(path, { ...file, uses: [...file.uses, ...(files.get(path)?.uses ?? [])] });
  }
  return files;
}

const settings = settingsHash();
const files = compiledFiles();
const green = existsSync(greenPath) ? (JSON.parse(readFileSync(greenPath, 'utf8')) as Green) : undefined;
const versions = green?.settings === settings ? green.versions : {};
const excluded = ['**/{node_modules,dist,coverage}', 'test/vectors'];
const sources = globSync('**/*.{js,cjs,mjs,ts,cts,mts}', { exclude: excluded }).map((path) => resolve(path));
const linted = filesToLint(sources, new Map(Object.entries(versions)), files);

if (linted.length > 0) {
  const { status } = spawnSync('oxlint', ['--type-aware', ...linted], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const now: Green = {
  settings,
  versions: Object.fromEntries([...files].map(([path, { version }]) => [path, version])),
};
writeFileSync(greenPath, JSON.stringify(now));
