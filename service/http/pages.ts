import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { privateCache } from './headers.ts';

/** A file that is served as it is. */
export type Page = { readonly contentType: string; readonly body: Buffer; readonly cacheControl: string };

/** Page of one installation, rendered at each request. Only pages of its own origin may read it, and it has its own policy. */
export type OwnPage = Page & { readonly policy: string };

/** Path of the documentation's assets. */
export const docsPath = '/api/v2/docs';

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

/** Contracts that have a document. */
type DocsContract = 'v2' | 'v3' | 'emulate' | 'streaming';

const documents: Readonly<Record<DocsContract, string>> = {
  v2: '/api/v2/openapi.json',
  v3: '/api/v3/openapi.json',
  emulate: '/api/emulate/v1/openapi.json',
  streaming: '/api/streaming/openapi.json',
};

const html = (contract: DocsContract): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TON HTTP API ${contract}</title>
<link rel="stylesheet" href="${docsPath}/swagger-ui.css">
<link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${docsPath}/swagger-ui-bundle.js"></script>
<script src="${docsPath}/${contract}.js"></script>
</body>
</html>
`;

/** `validatorUrl: null` prevents requests to Swagger's public validator. */
const start = (contract: DocsContract): string => `SwaggerUIBundle({
  url: '${documents[contract]}',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
`;

/** The documentation page of a contract. */
export function docsPage(contract: DocsContract): Page {
  return page('text/html; charset=utf-8', html(contract), documentCache);
}

/** Returns the assets of the documentation by path. Reads the package's files; throws when they are missing. */
export function readDocsAssets(): ReadonlyMap<string, Page> {
  const folder = join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui/package.json'))), 'static');
  const files = Object.entries(assets).map(([name, contentType]): [string, Page] => [
    `${docsPath}/${name}`,
    { contentType, body: readFileSync(join(folder, name)), cacheControl: assetCache },
  ]);
  const starts = (['v2', 'v3', 'emulate', 'streaming'] as const).map((contract): [string, Page] => [
    `${docsPath}/${contract}.js`,
    page('text/javascript; charset=utf-8', start(contract), assetCache),
  ]);
  return new Map([...files, ...starts]);
}

/** A page made of text. */
export function page(contentType: string, text: string, cacheControl: string): Page {
  return { contentType, body: Buffer.from(text), cacheControl };
}
