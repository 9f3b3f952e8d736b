import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAuthority } from '#test/support/certificate.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const roles = '/apis/rbac.authorization.k8s.io/v1';
const authority = createAuthority('metrics');

describe.skipIf(await withoutControlPlane('metrics for those who may read them', 'ours'))('metrics over TLS', () => {
  let client: ClusterClient;
  let operator: OperatorUnderTest;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-tls-'));
  const scrapers = new Agent({ connect: { ca: authority.certificate } });

  /** A token of an account that has one role. */
  async function tokenOf(name: string, role: string): Promise<string> {
    await client.create(accounts, { metadata: { name } });
    await client.create(`${roles}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    });
    const { status } = await client.create(`${accounts}/${name}/token`, { spec: { expirationSeconds: 3600 } });
    return status.token as string;
  }

  async function scrape(token: string | undefined) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const at = `https://127.0.0.1:${operator.metricsPort}/metrics`;
    const { statusCode, body } = await request(at, { dispatcher: scrapers, headers });
    return { status: statusCode, text: await body.text() };
  }

  beforeAll(async () => {
    const joined = await joinControlPlane();
    ({ client } = joined);
    const { certificate, key } = authority.issue({ commonName: 'operator', hosts: ['127.0.0.1'] });
    writeFileSync(join(folder, 'tls.crt'), certificate);
    writeFileSync(join(folder, 'tls.key'), key);
    // What the chart binds to the operator, and nothing else: enough to ask whose a token is.
    const token = await tokenOf('operator', 'system:auth-delegator');
    const flags = ['--metrics-authorize', '--metrics-tls-dir', folder];
    operator = await startOperatorUnderTest(joined.plane, flags, 'operator-1', { token });
  });
  afterAll(async () => {
    await operator?.close();
    await scrapers.close();
    await client?.close();
    rmSync(folder, { recursive: true });
  });

  it('are shown to an account that has the right to get them', async () => {
    await client.create(`${roles}/clusterroles`, {
      metadata: { name: 'metrics' },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    });
    const { status, text } = await scrape(await tokenOf('scraper', 'metrics'));
    expect([status, text]).toEqual([200, expect.stringContaining('rest_client_requests_total{')]);
  });

  it('are not shown to others, to strangers, or in the clear', async () => {
    expect((await scrape(await tokenOf('viewer', 'view'))).status).toBe(403);
    expect((await scrape('no.such.token')).status).toBe(401);
    expect((await scrape(undefined)).status).toBe(401);
    await expect(fetch(`http://127.0.0.1:${operator.metricsPort}/metrics`)).rejects.toThrow('fetch failed');
    expect((await fetch(`http://127.0.0.1:${operator.healthPort}/livez`)).status).toBe(200);
  });
});
