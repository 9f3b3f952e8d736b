import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 60_000, interval: 200 } as const;

describe.skipIf(await withoutControlPlane('the operator with real pods', 'ours', 'controllers'))(
  'a TonApi with real pods',
  () => {
    let cluster: TonCluster;
    let operator: OperatorUnderTest;
    beforeAll(async () => {
      cluster = await startTonCluster();
      operator = await startOperatorUnderTest(cluster.plane);
    }, 200_000);
    afterAll(async () => {
      await operator?.close();
      await cluster?.stop();
    }, 60_000);

    it('becomes Ready and answers callers', async () => {
      await cluster.client.create(paths.tonApis, cluster.tonApi('main', { replicas: 2 }));
      await expect.poll(async () => (await cluster.conditions('main'))['Ready']?.reason, patience).toBe('Serving');
      const url = await cluster.forwarder.url('default', 'main-api', 'http');
      const answer = await fetch(`${url}/api/v2/getMasterchainInfo`);
      expect(answer.status).toBe(200);
    }, 120_000);
  },
);
