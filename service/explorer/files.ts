import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import { vendoredFiles, withVendorUrls } from './vendored.ts';

/** The explorer's files in the form that a browser loads, by path: `app/main.ts`, `vendor/preact.mjs`. */
export type ExplorerFiles = {
  /** Every path that exists. No other path is read. */
  list(): Promise<readonly string[]>;
  read(path: string): Promise<Buffer>;
  /** The code of a module before the slow work on it: for its imports. */
  code(path: string): Promise<string>;
};

/** Media types by extension. A file with another extension is not served. */
export const mediaTypes: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Files beside the sources, or the files that `npm run build` has written beside the bundle. */
export function openExplorerFiles(): ExplorerFiles {
  return import.meta.url.endsWith('.ts') ? sourceFiles() : builtFiles(new URL('./explorer/', import.meta.url));
}

/** Sources of the application without their types, and files of packages from node_modules. */
export function sourceFiles(): ExplorerFiles {
  const app = new URL('./app/', import.meta.url);
  const vendored = new Map(
    vendoredFiles.map(({ name, beside }) => [`vendor/${name}`, new URL(name, import.meta.resolve(beside))]),
  );
  const bytesOf = (path: string): Promise<Buffer> =>
    readFile(vendored.get(path) ?? new URL(path.slice('app/'.length), app));
  const code = async (path: string): Promise<string> => withVendorUrls((await bytesOf(path)).toString());
  return {
    list: async () => [...(await listServed(app)).map((path) => `app/${path}`), ...vendored.keys()],
    code,
    async read(path) {
      if (mediaTypes[extname(path)] !== mediaTypes['.js']) return await bytesOf(path);
      return Buffer.from(path.endsWith('.ts') ? await withoutTypes(await code(path)) : await code(path));
    },
  };
}

/** Files that need no further work. */
export function builtFiles(folder: URL): ExplorerFiles {
  const read = (path: string): Promise<Buffer> => readFile(new URL(path, folder));
  return { list: () => listServed(folder), read, code: async (path) => (await read(path)).toString() };
}

/** Blanks replace types, so lines and columns stay. The bundle has no stripper: its files have no types. */
async function withoutTypes(text: string): Promise<string> {
  const { transformSync } = await import('amaro');
  return transformSync(text, { mode: 'strip-only' }).code;
}

async function listServed(folder: URL): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  return paths.map((path) => path.replaceAll('\\', '/')).filter((path) => extname(path) in mediaTypes);
}
