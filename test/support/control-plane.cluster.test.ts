import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClusterClient, type ClusterClient } from './cluster-client.ts';
import { withoutControlPlane } from './control-plane-source.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

describe.skipIf(await withoutControlPlane('the test control plane', 'ours', 'controllers'))('the control plane', () => {
  let plane: ControlPlane;
  let client: ClusterClient;
  beforeAll(async () => {
    plane = await startControlPlane();
    client = createClusterClient({ ...plane, token: plane.adminToken });
  }, 200_000);
  afterAll(async () => {
    await client.close();
    await plane.stop();
  });

  it('serves the release that its clients are told of', async () => {
    expect(await client.get('/version')).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.3' });
  });

  it('runs the controllers: a new namespace gets its service account', async () => {
    await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
    await expect
      .poll(() => client.find('/api/v1/namespaces/fresh/serviceaccounts/default'), { timeout: 20_000 })
      .toBeDefined();
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
});
