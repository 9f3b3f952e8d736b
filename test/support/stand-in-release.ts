import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { parseArgs } from 'node:util';

import { hotHashOfManifest } from '#service/config.ts';

/**
 * Stands for a release of the service in tests of rollouts: it takes the service's arguments, has its probes, status page and counters, and fails every
 * n-th request (`--fail-every`, 0 for none). Its migration has nothing to do, its indexer no blocks.
 */
const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  strict: false,
  options: {
    'fail-every': { type: 'string' },
    host: { type: 'string' },
    port: { type: 'string' },
    'internal-port': { type: 'string' },
    manifest: { type: 'string' },
  },
});

if (positionals.includes('migrate')) process.exit(0);

const failEvery = Number(values['fail-every']);
const counts = { 200: 0, 503: 0 };

const api = createServer((_request, response) => {
  const asked = counts[200] + counts[503] + 1;
  const status = failEvery > 0 && asked % failEvery === 0 ? 503 : 200;
  counts[status]++;
  response.writeHead(status).end('{}');
});

const internal = createServer((request, response) => {
  const page = pages[request.url ?? ''];
  response.writeHead(page === undefined ? 404 : 200).end(page?.());
});

const pages: Readonly<Record<string, () => string>> = {
  '/livez': () => '{}',
  '/readyz': () => '{}',
  '/metrics': () =>
    Object.entries(counts)
      .map(([status, count]) => `ton_http_requests_total{operation="x",status="${status}"} ${count}\n`)
      .join(''),
  '/status': () =>
    JSON.stringify({
      version: 'stand-in',
      configHash: hotHashOfManifest(readFileSync(String(values.manifest), 'utf8')),
      liteServers: [{ phase: 'in' }],
    }),
};

if (values.port !== undefined) listen(api, values.port);
listen(internal, values['internal-port']);

process.on('SIGTERM', () => {
  for (const server of [api, internal]) server.close(() => server.closeAllConnections());
});

function listen(server: Server, port: unknown): void {
  server.listen(Number(port), String(values.host));
}
