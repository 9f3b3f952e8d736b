import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { parseSync } from 'oxc-parser';
import { afterAll, describe, expect, it } from 'vitest';

import { createExplorer, createExplorerAssets } from '#service/explorer/explorer.ts';
import { builtFiles, sourceFiles } from '#service/explorer/files.ts';
import { importedPaths, withVendorUrls } from '#service/explorer/vendored.ts';
import { listFiles, projectRoot } from '#test/style/sources.ts';

const assets = createExplorerAssets();
const settings = { network: 'testnet', version: '1.2.3', surfaces: ['v3', 'explorer'] };
const explorer = createExplorer(() => settings, assets);
const paths = await sourceFiles().list();

/** Bytes of the first page over the network, with a compression that every browser has. */
const FIRST_PAGE_BYTES_MAX = 200_000;

async function textAt(path: string): Promise<string> {
  return (await explorer.find(path))?.body.toString() ?? '';
}

/** URLs that the HTML names, in its order and without repeats. */
function urlsIn(html: string): string[] {
  return [...new Set([...html.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url = '']) => url))];
}

/** All specifiers of a module, of dynamic imports too. */
function specifiersIn(path: string, code: string): string[] {
  const { module, errors } = parseSync(`${path}.mjs`, code);
  expect(errors).toEqual([]);
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((one) => one.moduleRequest?.value ?? [])),
    ...module.dynamicImports.map(({ moduleRequest }) => code.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ];
}

const modules = paths.filter((path) => /\.(ts|mjs|js)$/.test(path));

describe('the HTML of the explorer', () => {
  it.each([
    '/explorer',
    '/explorer/',
    '/explorer/account/tonplane.ton',
    '/explorer/trace/a%2Fb%2Bc=',
    '/explorer/block/-1:8000000000000000:7',
  ])('is the same at %s as at every path that is no file', async (path) => {
    expect(await explorer.find(path)).toBe(await assets.shell());
  });

  it('has no script, style or handler of its own, which the policy would refuse', async () => {
    const html = await textAt('/explorer');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:/);
    expect(explorer.policy()).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('names files of this server alone, and each exists', async () => {
    const urls = urlsIn(await textAt('/explorer'));
    expect(urls.length).toBeGreaterThan(10);
    for (const url of urls) expect(url).toMatch(/^\/explorer\/(app|vendor)\//);
    const found = await Promise.all(urls.map((url) => explorer.find(url)));
    expect(urls.filter((_url, index) => found[index] === undefined)).toEqual([]);
  });

  it('names every module that the first page needs, and no module that it does not need', async () => {
    const needed = new Set(['/explorer/app/main.ts']);
    for (const url of needed) {
      const code = await textAt(url);
      const { module } = parseSync(`${url}.mjs`, code);
      const requests = [...module.staticImports, ...module.staticExports.flatMap(({ entries }) => entries)];
      for (const { moduleRequest } of requests) {
        if (moduleRequest !== null) needed.add(new URL(moduleRequest.value, `http://host${url}`).pathname);
      }
    }
    const scripts = urlsIn(await textAt('/explorer')).filter((url) => /\.(ts|mjs|js)$/.test(url));
    expect(scripts.toSorted()).toEqual([...needed].toSorted());
  });

  it.each(['br', 'gzip'] as const)('with all that it loads stays within the bound in %s', async (encoding) => {
    const urls = ['/explorer', ...urlsIn(await textAt('/explorer'))];
    const files = await Promise.all(urls.map((url) => explorer.find(url)));
    const bodies = await Promise.all(files.map(async (file) => (await file?.encoded(encoding)) ?? file?.body));
    const bytes = bodies.reduce((sum, body) => sum + (body?.length ?? 0), 0);
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(FIRST_PAGE_BYTES_MAX);
  });
});

describe('a module of the explorer', () => {
  it.each(modules)('%s names imports that a browser finds: URLs of files that exist', async (path) => {
    const url = `/explorer/${path}`;
    for (const specifier of specifiersIn(path, await textAt(url))) {
      expect(specifier).toMatch(/^(\.{1,2}\/|\/explorer\/vendor\/)/);
      const target = new URL(specifier, `http://host${url}`).pathname;
      expect(await explorer.find(target)).toBeDefined();
    }
  });

  it('has the lines of its source, so that a place in an error is the place in the source', async () => {
    const source = readFileSync(join(projectRoot, 'service/explorer/app/main.ts'), 'utf8').split('\n');
    const served = (await textAt('/explorer/app/main.ts')).split('\n');
    expect(served.length).toBe(source.length);
    expect(served.findIndex((line) => line.startsWith('function Explorer'))).toBe(
      source.findIndex((line) => line.startsWith('function Explorer')),
    );
  });

  it.each([
    ["import { h } from 'preact';", "import { h } from '/explorer/vendor/preact.mjs';"],
    ['import{a as b}from"preact/hooks";', 'import{a as b}from"/explorer/vendor/hooks.mjs";'],
    ["const qr = await import('qrcode-generator');", "const qr = await import('/explorer/vendor/qrcode.mjs');"],
    ["import { x } from './preact.ts';", "import { x } from './preact.ts';"],
    ["import x from 'unknown';", "import x from 'unknown';"],
  ])('%j is served as %j', (source, served) => {
    expect(withVendorUrls(source)).toBe(served);
  });

  it('the paths of its imports are resolved from its folder', () => {
    const code =
      "import a from '../texts.ts';\nexport { b } from './b.ts';\nimport c from '/explorer/vendor/htm.mjs';\nread('from', data.has('to'));\nimport type { D } from './d.ts';\nimport {\n  e,\n  type F,\n} from './e.ts';";
    expect(importedPaths('app/parts/x.ts', code)).toEqual([
      'app/texts.ts',
      'app/parts/b.ts',
      'vendor/htm.mjs',
      'app/parts/e.ts',
    ]);
  });
});

describe('a file of the explorer', () => {
  it.each([
    '/explorer/app/../files.ts',
    '/explorer/app/%2e%2e/files.ts',
    '/explorer/app//etc/passwd',
    '/explorer/app/tsconfig.json',
    '/explorer/app',
    '/explorer/app/',
    '/explorer/vendor/../../package.json',
    '/explorer/vendor/preact.mjs.map',
    '/explorer/app/__proto__',
    '/explorer/vendor/constructor',
  ])('%s does not exist', async (path) => {
    expect(await explorer.find(path)).toBeUndefined();
  });

  it('every source of the application is served', () => {
    const sources = listFiles('service/explorer/app', /\.ts$/).map((path) => path.slice('service/explorer/'.length));
    expect(paths.filter((path) => path.endsWith('.ts')).toSorted()).toEqual(sources);
  });

  it.each(paths)('%s decodes to itself in every encoding', async (path) => {
    const file = (await assets.file(path))!;
    const [br, gzip] = [await file.encoded('br'), await file.encoded('gzip')];
    const isShort = file.body.length < 1024;
    expect([br === undefined, gzip === undefined]).toEqual([isShort, isShort]);
    expect(br === undefined ? file.body : brotliDecompressSync(br)).toEqual(file.body);
    expect(gzip === undefined ? file.body : gunzipSync(gzip)).toEqual(file.body);
  });

  it('a failed read is tried again by the next request', async () => {
    let reads = 0;
    const flaky = createExplorerAssets({
      list: async () => ['app/main.ts'],
      code: async () => '',
      read: async () => {
        if (++reads === 1) throw new Error('EMFILE');
        return Buffer.from('1');
      },
    });
    await expect(flaky.file('app/main.ts')).rejects.toThrow('EMFILE');
    expect((await flaky.file('app/main.ts'))?.body.toString()).toBe('1');
    await flaky.file('app/main.ts');
    expect(reads).toBe(2);
  });
});

describe('the settings of the explorer', () => {
  it('are the facts of the listener', async () => {
    const file = await explorer.find('/explorer/settings.json');
    expect([file?.contentType, JSON.parse(file?.body.toString() ?? '')]).toEqual(['application/json', settings]);
  });

  it('with an origin of the APIs allow connections to that origin and no other', () => {
    const dev = { apiUrl: 'http://127.0.0.1:8081' };
    const policy = createExplorer(() => ({ ...settings, dev }), assets).policy();
    expect(policy).toContain("connect-src 'self' http://127.0.0.1:8081;");
  });
});

describe('the files of the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-explorer-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are those that the sources give, without types', async () => {
    execFileSync(process.execPath, ['service/explorer/build.ts', folder], { cwd: projectRoot });
    const built = builtFiles(pathToFileURL(`${folder}/`));
    expect((await built.list()).toSorted()).toEqual(paths.toSorted());
    const differing: string[] = [];
    for (const path of paths) {
      if (!(await built.read(path)).equals((await assets.file(path))!.body)) differing.push(path);
    }
    expect(differing).toEqual([]);
  });
});
