import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { pathOf, startOperatorCluster, tonApiPath, type OperatorCluster } from '#test/support/operator-cluster.ts';
import { countOf } from '#test/support/volume.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';

const patience = { timeout: 240_000, interval: 100 } as const;

/** Kills of the API server in a row (operator/README.md#targets). `e2e/operator.cluster` has more, with callers. */
const kills = countOf({ quick: 1, full: 5, long: 20 });

describe.skipIf(await withoutControlPlane('faults around the operator', 'ours', 'controllers'))(
  'the operator under faults',
  () => {
    let on: OperatorCluster;
    const others: OperatorUnderTest[] = [];
    beforeAll(async () => {
      on = await startOperatorCluster({ controllers: false });
    });
    afterEach(async () => {
      await Promise.all(others.splice(0).map((operator) => operator.close()));
    });
    afterAll(() => on?.stop());

    const replicasOf = async (name: string): Promise<unknown> =>
      (await on.child('Deployment', `${name}-api`).catch(() => undefined))?.['spec'].replicas;

    it(
      `misses nothing when the API server is killed ${kills} times in a row`,
      async () => {
        await on.apply('main', { replicas: 1 });
        await on.settled('main');
        for (let round = 1; round <= kills; round += 1) {
          await on.plane.killApiServer();
          await on.plane.startApiServer();
          await on.apply('main', { replicas: 10 + round });
          await expect.poll(() => replicasOf('main'), patience).toBe(10 + round);
        }
        expect(on.operator.isLeading()).toBe(true);
        await on.settled('main');
        const before = await on.operator.writes();
        await new Promise((resolve) => setTimeout(resolve, 3000));
        expect(await on.operator.writes()).toEqual(before);
      },
      kills * 30_000,
    );

    it('hands over within seconds when the leader ends in good order', async () => {
      const standby = await startOperatorUnderTest(on.plane, [], 'standby-1');
      others.push(standby);
      await on.operator.close();
      await expect.poll(() => standby.isLeading(), patience).toBe(true);
      // Only now: started at once, it could be the first to take the free Lease again.
      await on.restartOperator();
      await on.apply('main', { replicas: 41 });
      await expect.poll(() => replicasOf('main'), patience).toBe(41);
      // A write is counted when its answer is there, a moment after it can be read.
      await expect.poll(async () => (await standby.writes())['Deployment apply'], patience).toBe(1);
      expect(await on.operator.writes()).toEqual({});
    });

    it('goes on when the API server was frozen for a while', async () => {
      await expect.poll(() => on.operator.isLeading(), patience).toBe(true);
      const thaw = on.plane.freezeApiServer();
      await new Promise((resolve) => setTimeout(resolve, 5000));
      thaw();
      await on.apply('main', { replicas: 51 });
      await expect.poll(() => replicasOf('main'), patience).toBe(51);
    });

    it('says why it is not ready when it may not watch', async () => {
      const account = { metadata: { name: 'nobody' } };
      await on.client.create(pathOf('ServiceAccount'), account);
      const path = `${pathOf('ServiceAccount')}/nobody/token`;
      const { status } = await on.client.create(path, { spec: { expirationSeconds: 3600 } });
      const stranger = await startOperatorUnderTest(on.plane, [], 'stranger', {
        token: (status as { token: string }).token,
      });
      others.push(stranger);
      const reasons = async (): Promise<string> =>
        (await fetch(`http://127.0.0.1:${stranger.healthPort}/readyz`)).text();
      await expect.poll(reasons, patience).toContain('the API server refuses a watch');
      expect(stranger.isLeading()).toBe(false);
      await on.client.delete(`${tonApiPath}/main`);
    });
  },
);
