import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { startStandInCluster, type StandInCluster } from '#test/support/stand-in-cluster.ts';

const patience = { timeout: 240_000, interval: 100 } as const;
const minutes = 500_000;

const names = ['one', 'two', 'three'] as const;

describe.skipIf(await withoutControlPlane('upgrades of the operator', 'ours', 'controllers'))(
  'an upgrade of the operator',
  () => {
    let cluster: StandInCluster;
    let operator: OperatorUnderTest;
    beforeAll(async () => {
      cluster = await startStandInCluster();
      operator = await startOperatorUnderTest(cluster.plane, ['--image', 'release:good']);
    }, minutes);
    afterAll(async () => {
      await operator?.close();
      await cluster?.stop();
    });

    const upgrade = async (...args: string[]): Promise<void> => {
      await operator.close();
      operator = await startOperatorUnderTest(cluster.plane, ['--image', 'release:good-2', ...args]);
    };
    const reasons = async (): Promise<string[]> =>
      Promise.all(names.map(async (name) => (await cluster.condition(name, 'Progressing'))?.reason ?? ''));
    const imagesNow = () => Promise.all(names.map((name) => cluster.imageOf(`${name}-api`)));

    it(
      'replaces no pod under OnChange until its TonApi is edited, and says so',
      async () => {
        for (const name of names) await cluster.create(name);
        await expect.poll(reasons, patience).toEqual(['RolledOut', 'RolledOut', 'RolledOut']);
        await upgrade('--upgrade-policy', 'OnChange');
        await expect.poll(reasons, patience).toEqual(['UpgradeHeld', 'UpgradeHeld', 'UpgradeHeld']);
        await cluster.change('one', { replicas: 2 });
        await expect.poll(async () => (await cluster.deployment('one-api'))?.['spec'].replicas, patience).toBe(2);
        expect(await imagesNow()).toEqual(['release:good', 'release:good', 'release:good']);
        await cluster.change('one', { requestTimeout: '2s' });
        await expect.poll(reasons, patience).toEqual(['RolledOut', 'UpgradeHeld', 'UpgradeHeld']);
        expect(await imagesNow()).toEqual(['release:good-2', 'release:good', 'release:good']);
      },
      minutes,
    );

    it(
      'replaces pods of one TonApi after the other, also when the operator is restarted meanwhile, and tells each its place',
      async () => {
        const before = await cluster.deployment('one-api');
        await upgrade('--max-concurrent-rollouts', '1');
        const seen: string[][] = [];
        const messages = new Set<string>();
        const look = async (): Promise<string[]> => {
          const now = await reasons();
          seen.push(now);
          for (const name of names) messages.add((await cluster.condition(name, 'Progressing'))?.message ?? '');
          return now;
        };
        await expect.poll(look, patience).toContain('WaitingForRolloutSlot');
        await expect.poll(look, patience).toContain('RollingOut');
        await upgrade('--max-concurrent-rollouts', '1');
        await expect.poll(look, patience).toEqual(['RolledOut', 'RolledOut', 'RolledOut']);
        expect(await imagesNow()).toEqual(['release:good-2', 'release:good-2', 'release:good-2']);
        const atOnce = seen.map((now) => now.filter((reason) => reason === 'RollingOut').length);
        expect(Math.max(...atOnce)).toBe(1);
        const line = 'waits for a rollout slot, 1st of 1, since 20';
        expect([...messages].some((message) => message.startsWith(line))).toBe(true);
        expect((await cluster.deployment('one-api'))?.metadata.generation).toBe(before?.metadata.generation);
      },
      minutes,
    );
  },
);
