import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { parseOptions } from '#operator/options.ts';
import { uninstall } from '#operator/uninstall.ts';

it('an operator whose definitions are gone is uninstalled: there are no keys', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-uninstall-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  );
  try {
    for (const more of [[], ['--namespaces=a,b']]) {
      const args = ['uninstall', '--deployment=gone', '--kubeconfig', kubeconfig, ...more];
      const options = parseOptions(args, { POD_NAMESPACE: 'default' });
      expect(await uninstall(options, { register: new Registry() })).toBe(
        'the operator is stopped; 0 of 0 TonApiKeys lost their finalizer\n',
      );
    }
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
