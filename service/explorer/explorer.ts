import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { mediaTypes, openExplorerFiles, type ExplorerFiles } from './files.ts';
import { entry, explorerPolicy, renderShell } from './shell.ts';
import { importedPaths } from './vendored.ts';

/** Facts of the installation that the application reads at its start. */
export type ExplorerSettings = {
  /** Name of the network for a person. */
  readonly network: string;
  readonly version: string;
  /** APIs that the application may call. */
  readonly surfaces: readonly string[];
  /** Present where the page acts on a private network: the origin of the APIs. */
  readonly dev?: { readonly apiUrl: string };
  /** URL of the page that acts on the private network. */
  readonly networkPage?: string;
  /** URL of the page that says how to connect; absent in a cluster. */
  readonly startPage?: string;
  /** URL of the documents of all APIs; absent: `/`. */
  readonly documents?: string;
  /** Path of JSON with the field `key`, where a laptop's network wants an API key. */
  readonly keyFacts?: string;
};

export type Encoding = 'br' | 'gzip';

/** A file as it is sent. */
export type ExplorerFile = {
  readonly contentType: string;
  /** Strong validator: the hash of the content. */
  readonly etag: string;
  readonly body: Buffer;
  /** Compresses the body once; undefined for a body that is too short to gain. */
  encoded(encoding: Encoding): Promise<Buffer> | undefined;
};

/** The explorer's pages and files on one listener. */
export type Explorer = {
  /** Content-Security-Policy of every answer. */
  policy(): string;
  /**
   * Finds the answer to a path of `/explorer`. Every path that is no file is a page, and all pages have the same HTML.
   * @param path without a query
   * @returns undefined for a file that does not exist
   */
  find(path: string): Promise<ExplorerFile | undefined>;
};

/** Files of the process: read, stripped and compressed once, whatever number of listeners serves them. */
export type ExplorerAssets = {
  readonly file: (path: string) => Promise<ExplorerFile | undefined>;
  readonly shell: () => Promise<ExplorerFile>;
};

/** Shorter bodies fit one packet. */
const ENCODED_BYTES_MIN = 1024;

/** Reads nothing until the first request. The cache has at most every file of the explorer, some 500 kB, in three encodings. */
export function createExplorerAssets(files: ExplorerFiles = openExplorerFiles()): ExplorerAssets {
  const shared = new Map<string, Promise<unknown>>();
  /** Makes a value once. A failure is not cached. */
  const once = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const made = (shared.get(key) as Promise<T> | undefined) ?? make();
    shared.set(key, made);
    made.catch(() => shared.delete(key));
    return made;
  };

  const file = async (path: string): Promise<ExplorerFile | undefined> => {
    const listed = await once('list', async () => new Set(await files.list()));
    if (!listed.has(path)) return undefined;
    return await once(`file ${path}`, async () => fileOf(mediaTypes[extname(path)] ?? '', await files.read(path)));
  };

  /** Paths of the modules that the entry needs, in the order of discovery. */
  const modules = async (): Promise<readonly string[]> => {
    const found = new Set([entry]);
    for (const path of found) importedPaths(path, await files.code(path)).forEach((imported) => found.add(imported));
    return [...found];
  };

  const shell = async (): Promise<ExplorerFile> =>
    fileOf('text/html; charset=utf-8', Buffer.from(renderShell(await modules())));
  return { file, shell: () => once('shell', shell) };
}

/**
 * Joins the files of the process with the facts of one listener.
 * @param settings called at each use: a listener knows its URL when it listens
 */
export function createExplorer(settings: () => ExplorerSettings, assets: ExplorerAssets): Explorer {
  return {
    policy() {
      const { dev } = settings();
      return explorerPolicy(dev === undefined ? [] : [dev.apiUrl]);
    },
    async find(path) {
      const name = path.slice('/explorer/'.length);
      if (name === 'settings.json') return fileOf('application/json', Buffer.from(JSON.stringify(settings())));
      return /^(app|vendor)(\/|$)/.test(name) ? await assets.file(name) : await assets.shell();
    },
  };
}

/** The scale ends at 11. The two best qualities take ten times as long for a few percent. */
const BROTLI_QUALITY = 9;

const compressors: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: promisify<Buffer, Buffer>(gzip),
};

function fileOf(contentType: string, body: Buffer): ExplorerFile {
  const cached: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return {
    contentType,
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    encoded: (encoding) =>
      body.length < ENCODED_BYTES_MIN ? undefined : (cached[encoding] ??= compressors[encoding](body)),
  };
}
