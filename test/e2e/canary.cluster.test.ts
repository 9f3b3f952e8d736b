import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { applyDefinitions } from '#test/support/crds.ts';
import { startLoad } from '#test/support/load.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths } from '#test/support/ton-cluster.ts';
import { projectRoot } from '#test/style/sources.ts';

const patience = { timeout: 240_000, interval: 200 } as const;
const minutes = 500_000;

/** A release of each kind: none fails, or one request in twenty. Any tag that begins so is the same program. */
const program = join(projectRoot, 'test/support/stand-in-release.ts');
const images = [
  { image: /^release:good/, entrypoint: ['node', program, '--fail-every', '0'] },
  { image: /^release:bad/, entrypoint: ['node', program, '--fail-every', '20'] },
];

const tonApi = {
  apiVersion: 'tonplane.dev/v1alpha1',
  kind: 'TonApi',
  metadata: { name: 'main', namespace: 'default' },
  spec: {
    network: 'custom',
    trust: 'none',
    zeroState: { rootHash: `${'A'.repeat(43)}=`, fileHash: `${'A'.repeat(43)}=` },
    liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: `${'A'.repeat(43)}=` }],
    plans: [{ name: 'free', requestsPerSecond: 1000 }],
    anonymousPlan: 'free',
    requestTimeout: '1s',
    rateLimits: { redis: { secretRef: { name: 'redis' } } },
    replicas: 6,
    image: { repository: 'release', tag: 'good' },
    rollout: { strategy: 'Canary', steps: [{ weight: 10, hold: '3s' }], maxErrorRatio: '0.01', drainSeconds: 1 },
  },
};

describe.skipIf(await withoutControlPlane('canaries with real pods', 'ours', 'controllers'))('a canary', () => {
  let cluster: Cluster;
  let operator: OperatorUnderTest;
  let url: string;
  beforeAll(async () => {
    cluster = await startCluster({ images });
    await applyDefinitions(cluster.client);
    await cluster.client.create(paths.secrets, { metadata: { name: 'redis' }, stringData: { url: 'redis://x' } });
    operator = await startOperatorUnderTest(cluster.plane);
  }, minutes);
  afterAll(async () => {
    await operator?.close();
    await cluster?.stop();
  }, 60_000);

  type Condition = { readonly type: string; readonly reason: string; readonly message: string };
  const condition = async (type: string): Promise<Condition | undefined> => {
    const found = (await cluster.client.get(`${paths.tonApis}/main`))['status']?.conditions as Condition[] | undefined;
    return found?.find((one) => one.type === type);
  };
  const reason = async (type: string): Promise<string | undefined> => (await condition(type))?.reason;
  const change = (tag: string) => cluster.client.merge(`${paths.tonApis}/main`, { spec: { image: { tag } } });
  const deployment = (name: string) => cluster.client.find(`${paths.deployments}/${name}`);
  const imageOf = async (name: string): Promise<string> =>
    (await deployment(name))?.['spec'].template.spec.containers[0].image;

  it(
    'is not made for the first pods',
    async () => {
      await cluster.client.create(paths.tonApis, tonApi);
      await expect.poll(() => reason('Ready'), patience).toBe('Serving');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledOut');
      expect(await deployment('main-api-canary')).toBeUndefined();
      url = await cluster.forwarder.url('default', 'main-api', 'http');
    },
    minutes,
  );

  it(
    'with one request in twenty failing is given up before a hundredth of all requests is hurt, and stays given up',
    async () => {
      const load = startLoad(url, { clients: 2 });
      await expect.poll(async () => load.asked, patience).toBeGreaterThan(500);
      await change('bad');
      await expect.poll(() => reason('Progressing'), patience).toBe('CanaryHold');
      expect(await imageOf('main-api-canary')).toBe('release:bad');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledBack');
      expect((await condition('Progressing'))?.message).toMatch(/\d+ of \d+ requests failed/);
      await expect.poll(async () => (await deployment('main-api-canary'))?.['status'].replicas ?? 0, patience).toBe(0);
      const { length } = load.failures;
      const until = load.asked + 1000;
      await expect.poll(async () => load.asked, patience).toBeGreaterThan(until);
      await load.stop();
      expect(length).toBeGreaterThan(0);
      expect(load.failures).toHaveLength(length);
      expect(load.failures.length / load.asked).toBeLessThanOrEqual(0.01);
      expect(await imageOf('main-api')).toBe('release:good');
      expect(await reason('Ready')).toBe('Serving');
    },
    minutes,
  );

  it(
    'that goes well becomes the stable release without a failed request',
    async () => {
      const load = startLoad(url, { clients: 2 });
      await change('good-2');
      await expect.poll(() => reason('Progressing'), patience).toBe('CanaryHold');
      await expect.poll(() => imageOf('main-api'), patience).toBe('release:good-2');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledOut');
      await expect.poll(() => deployment('main-api-canary'), patience).toBeUndefined();
      await load.stop();
      expect(load.failures).toEqual([]);
      const { rollout } = (await cluster.client.get(`${paths.tonApis}/main`))['status'];
      expect(rollout.hash).toBe(rollout.stableHash);
    },
    minutes,
  );
});
