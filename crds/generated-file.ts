import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { format } from 'oxfmt';

/** A file that is made from a source in the repository, and whether it already was as it must be. */
export type GeneratedFile = { readonly path: string; readonly clean: boolean };

/** With `check` nothing is written. With `asIs` the text is not formatted. */
export type GenerateOptions = { readonly check: boolean; readonly asIs?: boolean };

const root = resolve(import.meta.dirname, '..');

/** Writes a generated file, its path from the root, unless it is as it must be already. TypeScript and JSON are formatted. */
export async function settle(
  path: string,
  text: string,
  { check, asIs = false }: GenerateOptions,
): Promise<GeneratedFile> {
  const style = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8'));
  const settled = !asIs && /\.(ts|json)$/.test(path) ? (await format(path, text, style)).code : text;
  const file = join(root, path);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  const clean = present === settled;
  if (!clean && !check) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, settled);
  }
  return { path, clean };
}

/** Comments that enclose the generated part of a page. */
export type Markers = { readonly begin: string; readonly end: string };

/** Returns a page with `part` between its markers. Throws a TypeError for a page without them. */
export function withPart(page: string, { begin, end }: Markers, part: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new TypeError(`a page with a generated part: expected ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
}

/** Returns text as a cell of a table in Markdown: no bar ends the cell, and `<name>` is no tag. */
export function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll(/<(?=[a-z/!])/gi, '&lt;');
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
