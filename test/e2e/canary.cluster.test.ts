import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startLoad } from '#test/support/load.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { startStandInCluster, type StandInCluster } from '#test/support/stand-in-cluster.ts';
import { paths } from '#test/support/ton-cluster.ts';

const patience = { timeout: 240_000, interval: 200 } as const;
const minutes = 500_000;

describe.skipIf(await withoutControlPlane('canaries with real pods', 'ours', 'controllers'))('a canary', () => {
  let cluster: StandInCluster;
  let operator: OperatorUnderTest;
  let url: string;
  beforeAll(async () => {
    cluster = await startStandInCluster();
    operator = await startOperatorUnderTest(cluster.plane);
  }, minutes);
  afterAll(async () => {
    await operator?.close();
    await cluster?.stop();
  });

  const reason = async (type: string): Promise<string | undefined> => (await cluster.condition('main', type))?.reason;
  const release = (tag: string) => cluster.change('main', { image: { tag } });

  it(
    'is not made for the first pods',
    async () => {
      const rollout = {
        strategy: 'Canary',
        steps: [{ weight: 10, hold: '3s' }],
        maxErrorRatio: '0.01',
        drainSeconds: 1,
      };
      await cluster.create('main', { replicas: 6, image: { repository: 'release', tag: 'good' }, rollout });
      await expect.poll(() => reason('Ready'), patience).toBe('Serving');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledOut');
      expect(await cluster.deployment('main-api-canary')).toBeUndefined();
      url = await cluster.forwarder.url('default', 'main-api', 'http');
    },
    minutes,
  );

  it(
    'with one request in twenty failing is given up before a hundredth of all requests is hurt, and stays given up',
    async () => {
      const load = startLoad(url, { clients: 2 });
      await expect.poll(() => load.asked, patience).toBeGreaterThan(500);
      await release('bad');
      await expect.poll(() => reason('Progressing'), patience).toBe('CanaryHold');
      expect(await cluster.imageOf('main-api-canary')).toBe('release:bad');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledBack');
      expect((await cluster.condition('main', 'Progressing'))?.message).toMatch(/\d+ of \d+ requests failed/);
      const canaryPods = async (): Promise<number> =>
        (await cluster.deployment('main-api-canary'))?.['status'].replicas ?? 0;
      await expect.poll(canaryPods, patience).toBe(0);
      const { length } = load.failures;
      const until = load.asked + 1000;
      await expect.poll(() => load.asked, patience).toBeGreaterThan(until);
      await load.stop();
      expect(length).toBeGreaterThan(0);
      expect(load.failures).toHaveLength(length);
      expect(load.failures.length / load.asked).toBeLessThanOrEqual(0.01);
      expect(await cluster.imageOf('main-api')).toBe('release:good');
      // The template that was asked for is not out: a pipeline that waits for Ready must fail.
      expect(await cluster.condition('main', 'Ready')).toMatchObject({ status: 'False', reason: 'RolledBack' });
    },
    minutes,
  );

  it(
    'that goes well becomes the stable release without a failed request',
    async () => {
      const load = startLoad(url, { clients: 2 });
      await release('good-2');
      await expect.poll(() => reason('Progressing'), patience).toBe('CanaryHold');
      await expect.poll(() => cluster.imageOf('main-api'), patience).toBe('release:good-2');
      await expect.poll(() => reason('Progressing'), patience).toBe('RolledOut');
      await expect.poll(() => cluster.deployment('main-api-canary'), patience).toBeUndefined();
      await load.stop();
      expect(load.failures).toEqual([]);
      const { rollout } = (await cluster.client.get(`${paths.tonApis}/main`))['status'];
      expect(rollout.hash).toBe(rollout.stableHash);
    },
    minutes,
  );
});
