import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { privateCache } from './headers.ts';
import { basePaths, type Contract } from './paths.ts';

/** A file that is served as it is. */
export type Page = { readonly contentType: string; readonly body: Buffer; readonly cacheControl: string };

/** Page of one installation, rendered at each request. Only pages of its own origin may read it, and it has its own policy. */
export type OwnPage = (Page & { readonly policy: string }) | OwnRedirect;

/** Path of the page that a browser opens instead. */
export type OwnRedirect = { readonly location: string };

/** Path of the documentation's assets. */
export const docsPath = `${basePaths.v2}/docs`;

/** Files of the Swagger UI package that the page needs. All of them are ours to serve: the page asks no other host. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Nothing from elsewhere, even if an asset asked for it. The page draws its icons from data URLs and styles elements in place. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** A day, because assets change only with a release. */
const assetCache = `${privateCache}, max-age=86400`;

/** A document names the operations of this release: each use asks again. */
export const documentCache = `${privateCache}, no-cache`;

const html = (title: string, scripts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${docsPath}/swagger-ui.css">
<link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
${['swagger-ui-bundle.js', ...scripts].map((name) => `<script src="${docsPath}/${name}"></script>`).join('\n')}
</body>
</html>
`;

/**
 * Shows GET and POST of one operation as one entry. The document itself has both.
 * The reader calls `foldDocument` with each answer that it gets.
 */
export const foldScript = `function foldMethods(text) {
  const document = JSON.parse(text);
  for (const path of Object.values(document.paths || {})) {
    if (path.get === undefined || path.post === undefined) continue;
    const { description } = path.get;
    path.get.description = (description === undefined ? '' : description + '\\n\\n') + 'POST takes the same parameters as one JSON object.';
    delete path.post;
  }
  return JSON.stringify(document);
}
function foldDocument(answer) {
  if (answer.ok && new URL(answer.url, location.href).pathname.endsWith('/openapi.json')) {
    answer.text = foldMethods(answer.text);
    answer.data = answer.text;
  }
  return answer;
}
`;

/** `validatorUrl: null` prevents requests to Swagger's public validator. */
const start = (contract: Contract): string => `SwaggerUIBundle({
  url: '${basePaths[contract]}/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  responseInterceptor: foldDocument,
  presets: [SwaggerUIBundle.presets.apis],
});
`;

/** Names of the contracts in the list of all documents. */
const titles: Readonly<Record<Contract, string>> = {
  v2: 'v2',
  v3: 'v3',
  emulate: 'emulation v1',
  streaming: 'streaming v2',
};

/**
 * Script of a page with a list of documents.
 * @param before statements that define the list `documents`
 * @param after the further fields of the reader's options
 */
export const allStart = (before: string, after = ''): string => `${before}
const ui = SwaggerUIBundle({
  urls: documents,
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  responseInterceptor: foldDocument,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
${after}});
`;

/** The statement that defines the list of the documents of these contracts. */
export function documentList(contracts: readonly Contract[]): string {
  const documents = contracts.map((contract) => ({
    url: `${basePaths[contract]}/openapi.json`,
    name: titles[contract],
  }));
  return `const documents = ${JSON.stringify(documents)};`;
}

/** The documentation page of a contract. */
export function docsPage(contract: Contract): Page {
  return page(
    'text/html; charset=utf-8',
    html(`TON HTTP API ${contract}`, ['fold.js', `${contract}.js`]),
    documentCache,
  );
}

/** HTML of the page of all documents. @param script its start, beside the other scripts */
export const allDocsHtml = (script: string): string =>
  html('TON HTTP APIs', ['swagger-ui-standalone-preset.js', 'fold.js', script]);

/** The page of all documents and its script, by path. */
export function allDocsPages(contracts: readonly Contract[]): readonly (readonly [path: string, page: Page])[] {
  const script = page('text/javascript; charset=utf-8', allStart(documentList(contracts)), documentCache);
  return [
    ['/', page('text/html; charset=utf-8', allDocsHtml('all.js'), documentCache)],
    [`${docsPath}/all.js`, script],
  ];
}

/** Returns the assets of the documentation by path. Reads the package's files; throws when they are missing. */
export function readDocsAssets(): ReadonlyMap<string, Page> {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui/package.json'))), 'static');
  const files = Object.entries(assets).map(([name, contentType]): [string, Page] => [
    `${docsPath}/${name}`,
    { contentType, body: readFileSync(join(folder, name)), cacheControl: assetCache },
  ]);
  const starts = (Object.keys(basePaths) as Contract[]).map((contract): [string, Page] => [
    `${docsPath}/${contract}.js`,
    page('text/javascript; charset=utf-8', start(contract), assetCache),
  ]);
  const fold: [string, Page] = [`${docsPath}/fold.js`, page('text/javascript; charset=utf-8', foldScript, assetCache)];
  return new Map([...files, ...starts, fold]);
}

/** A page made of text. */
export function page(contentType: string, text: string, cacheControl: string): Page {
  return { contentType, body: Buffer.from(text), cacheControl };
}
