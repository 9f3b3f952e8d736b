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

/** Reads nothing until the first request. The cache has at most every file of the explorer, some 300 kB, in three encodings. */
export function createExplorerAssets(files: ExplorerFiles = openExplorerFiles()): ExplorerAssets {
  let listed: Promise<ReadonlySet<string>> | undefined;
  const loaded = new Map<string, Promise<ExplorerFile>>();
  let shell: Promise<ExplorerFile> | undefined;

  const file = async (path: string): Promise<ExplorerFile | undefined> => {
    listed ??= files.list().then((paths) => new Set(paths));
    if (!(await listed).has(path)) return undefined;
    const found = loaded.get(path) ?? files.read(path).then((body) => fileOf(mediaTypes[extname(path)] ?? '', body));
    loaded.set(path, found);
    return await found;
  };

  /** Paths of the modules that the entry needs, in the order of discovery. */
  const modules = async (): Promise<readonly string[]> => {
    const found = new Set([entry]);
    for (const path of found) {
      const code = (await file(path))?.body.toString() ?? '';
      importedPaths(path, code).forEach((imported) => found.add(imported));
    }
    return [...found];
  };

  return {
    file,
    shell: () =>
      (shell ??= modules().then((paths) => fileOf('text/html; charset=utf-8', Buffer.from(renderShell(paths))))),
  };
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

const compressors: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body) => promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }),
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
