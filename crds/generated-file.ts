import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { format } from 'oxfmt';

/** A file that is made from a source in the repository, and whether it already was as it must be. */
export type GeneratedFile = { readonly path: string; readonly clean: boolean };

/** With `check` nothing is written. */
export type GenerateOptions = { readonly check: boolean };

const root = resolve(import.meta.dirname, '..');

/** Writes a generated file, its path from the root, unless it is as it must be already. TypeScript and JSON are formatted. */
export async function settle(path: string, text: string, { check }: GenerateOptions): Promise<GeneratedFile> {
  const style = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8'));
  const settled = /\.(ts|json)$/.test(path) ? (await format(path, text, style)).code : text;
  const file = join(root, path);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  const clean = present === settled;
  if (!clean && !check) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, settled);
  }
  return { path, clean };
}

/** Runs a generator on the command line and reports its result for each file. With `--check` a file that differs is a failure. */
export async function settleAll(
  generate: (options: GenerateOptions) => Promise<readonly GeneratedFile[]>,
): Promise<void> {
  const check = process.argv.includes('--check');
  const files = await generate({ check });
  for (const { path, clean } of files)
    process.stdout.write(`${path}: ${clean ? 'clean' : check ? 'differs' : 'written'}\n`);
  if (check && files.some(({ clean }) => !clean)) process.exitCode = 1;
}
