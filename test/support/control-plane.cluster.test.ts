import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { createClusterClient, type ClusterClient } from './cluster-client.ts';
import { readGivenCluster } from './control-plane-given.ts';
import { withoutControlPlane } from './control-plane-source.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

describe.skipIf(await withoutControlPlane('the test control plane', 'ours', 'controllers'))('the control plane', () => {
  let plane: ControlPlane;
  let client: ClusterClient;
  beforeAll(async () => {
    plane = await startControlPlane();
    client = createClusterClient({ ...plane, token: plane.adminToken });
  });
  afterAll(async () => {
    await client.close();
    await plane.stop();
  });

  it('serves the release that its clients are told of', async () => {
    expect(await client.get('/version')).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.3' });
  });

  it('runs the controllers: a new namespace gets its service account', async () => {
    await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
    await expect.poll(() => client.find('/api/v1/namespaces/fresh/serviceaccounts/default')).toBeDefined();
  });

  it('keeps what is stored when the API server is killed and started again', async () => {
    await plane.restartApiServer();
    expect(await client.find('/api/v1/namespaces/default')).toBeDefined();
  });

  it('is silent while frozen, and goes on after that', async () => {
    const thaw = plane.freezeApiServer();
    const answer = client.get('/api/v1/namespaces/default');
    const first = await Promise.race([answer, new Promise((done) => setTimeout(done, 300, 'silence'))]);
    thaw();
    expect(first).toBe('silence');
    expect((await answer).metadata.name).toBe('default');
  });

  it('is used as it is where a kubeconfig with a client certificate names it', async () => {
    const user = plane.issueClientCertificate({ commonName: 'person', organization: 'system:masters' });
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-given-'));
    const file = join(folder, 'kubeconfig');
    const data = { 'client-certificate-data': encoded(user.certificate), 'client-key-data': encoded(user.key) };
    writeFileSync(file, stringify({ ...plane.kubeconfig, users: [{ name: 'test', user: data }] }));
    const given = await readGivenCluster(file);
    const other = createClusterClient({ ...given, token: given.adminToken });
    const review = await other.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(review['status'].userInfo.username).toBe('system:serviceaccount:kube-system:tonplane-tests');
    await other.close();
    rmSync(folder, { recursive: true });
  });
});
