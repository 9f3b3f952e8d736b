import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClusterClient, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';
import { applyDefinitions } from '#test/support/crds.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';

const tonApis = '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapis';

describe.skipIf(await withoutControlPlane('the operator', 'ours', 'controllers'))('the operator', () => {
  let plane: ControlPlane;
  let client: ClusterClient;
  let operator: OperatorUnderTest;
  beforeAll(async () => {
    plane = await startControlPlane();
    client = createClusterClient({ ...plane, token: plane.adminToken });
    await applyDefinitions(client);
    operator = await startOperatorUnderTest(plane);
  }, 200_000);
  afterAll(async () => {
    await operator?.close();
    await client?.close();
    await plane?.stop();
  });

  it('makes the children of a TonApi', async () => {
    const tonApi = {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApi',
      metadata: { name: 'main', namespace: 'default' },
      spec: {
        network: 'mainnet',
        trust: 'none',
        liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: `${'A'.repeat(43)}=` }],
        plans: [{ name: 'free', requestsPerSecond: 1, burst: 1 }],
        anonymousPlan: 'free',
        rateLimits: { redis: { embedded: true }, onRedisFailure: 'Local' },
      },
    };
    await client.create(tonApis, tonApi);
    await expect
      .poll(() => client.find('/apis/apps/v1/namespaces/default/deployments/main-api'), { timeout: 20_000 })
      .toBeDefined();
    await expect
      .poll(async () => (await client.get(`${tonApis}/main`))['status'], { timeout: 20_000 })
      .toMatchObject({ observedGeneration: 1 });
  });
});
