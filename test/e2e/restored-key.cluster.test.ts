import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 240_000, interval: 100 } as const;
const minutes = 500_000;

describe.skipIf(await withoutControlPlane('a restored key', 'ours', 'controllers'))('a key from a backup', () => {
  let cluster: TonCluster;
  let operator: OperatorUnderTest;
  let url: string;
  beforeAll(async () => {
    cluster = await startTonCluster();
    operator = await startOperatorUnderTest(cluster.plane);
  }, minutes);
  afterAll(async () => {
    await operator?.close();
    await cluster?.stop();
  });

  const tonApiKey = {
    apiVersion: 'tonplane.dev/v1alpha1',
    kind: 'TonApiKey',
    metadata: { name: 'customer' },
    spec: { apiRef: { name: 'main' }, plan: 'pro' },
  };
  const secretPath = `${paths.secrets}/customer`;
  const keyPath = `${paths.tonApiKeys}/customer`;
  const reason = async (): Promise<string | undefined> => {
    const conditions = (await cluster.client.find(keyPath))?.['status']?.conditions ?? [];
    return (conditions as { type: string; reason: string }[]).find(({ type }) => type === 'Ready')?.reason;
  };
  /** Statuses of ten requests, which reach both pods. */
  const statuses = async (key: string): Promise<number[]> => {
    const found = new Set<number>();
    for (let asked = 0; asked < 10; asked++) {
      const headers = { 'x-api-key': key, connection: 'close' };
      const answer = await fetch(`${url}/api/v2/getMasterchainInfo`, { headers });
      await answer.arrayBuffer();
      found.add(answer.status);
    }
    return [...found];
  };
  const remove = async (): Promise<void> => {
    await cluster.client.delete(keyPath);
    await expect.poll(() => cluster.client.find(keyPath), patience).toBeUndefined();
    await expect.poll(() => cluster.client.find(secretPath), patience).toBeUndefined();
  };
  it(
    'is accepted again by every pod after its deletion, the Secret first or the resource first',
    async () => {
      const pro = { name: 'pro', requestsPerSecond: 1000, burst: 1000 };
      await cluster.client.create(
        paths.tonApis,
        cluster.tonApi('main', { replicas: 2, plans: [pro], anonymousPlan: 'pro' }),
      );
      await expect.poll(async () => (await cluster.conditions('main'))['Ready']?.reason, patience).toBe('Serving');
      url = await cluster.forwarder.url('default', 'main-api', 'http');
      await cluster.client.create(paths.tonApiKeys, tonApiKey);
      await expect.poll(reason, patience).toBe('InForce');
      const backup = await cluster.client.get(secretPath);
      const key = textOf(backup);
      await expect.poll(() => statuses(key), patience).toEqual([200]);

      await remove();
      await expect.poll(() => statuses(key), patience).toEqual([401]);
      await cluster.client.create(paths.secrets, copyOf(backup));
      await cluster.client.create(paths.tonApiKeys, tonApiKey);
      await expect.poll(reason, patience).toBe('InForce');
      await expect.poll(() => statuses(key), patience).toEqual([200]);

      await remove();
      await expect.poll(() => statuses(key), patience).toEqual([401]);
      await cluster.client.create(paths.tonApiKeys, tonApiKey);
      await expect.poll(reason, patience).toBe('InForce');
      const other = textOf(await cluster.client.get(secretPath));
      await cluster.client.merge(secretPath, copyOf(backup));
      await expect.poll(() => statuses(key), patience).toEqual([200]);
      await expect.poll(() => statuses(other), patience).toEqual([401]);
    },
    minutes,
  );
});

function textOf(secret: ClusterObject): string {
  return Buffer.from(secret['data'].key, 'base64').toString();
}

/** What `kubectl apply` makes of a Secret's backup. */
function copyOf({ data, metadata }: ClusterObject): ClusterObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'customer',
      labels: metadata.labels ?? {},
      annotations: { ...metadata.annotations, 'tonplane.dev/adopt': 'true' },
    },
    data,
  };
}
