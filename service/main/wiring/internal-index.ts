import { createHash } from 'node:crypto';

import type { InternalPage } from '#service/http/internal-server.ts';

const style = ':root { color-scheme: light dark; font: 15px/1.6 system-ui, sans-serif; } body { margin: 1.5rem; }';

const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Paths that every process has. */
const ownPaths = ['/status', '/metrics', '/readyz', '/livez'];

/**
 * Renders the page at `/` of the internal listener: a link to each of its pages.
 * @param further additional paths of this process
 */
export function internalIndex(further: readonly string[]): InternalPage {
  const links = [...ownPaths, ...further].map((path) => `<li><a href="${path}">${path}</a></li>`).join('\n');
  return {
    contentType: 'text/html; charset=utf-8',
    contentSecurityPolicy: policy,
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tonplane: internal port</title><style>${style}</style></head>
<body><h1>Tonplane: internal port</h1><ul>
${links}
</ul></body></html>
`,
  };
}
