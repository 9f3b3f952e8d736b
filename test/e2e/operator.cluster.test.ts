import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startLoad } from '#test/support/load.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 90_000, interval: 200 } as const;

/** A test of this suite waits for pods that start on a busy machine. */
const minutes = 180_000;

/** Three pods one after the other, each ready for five seconds before the next, while callers keep the machine busy. */
const rolloutPatience = { timeout: 300_000, interval: 500 } as const;

/** More than the load of a test can ask for, however quick the machine. */
const free = { name: 'free', requestsPerSecond: 100_000, burst: 100_000 };
const pro = { name: 'pro', requestsPerSecond: 1000, burst: 1000 };
const trickle = { name: 'trickle', requestsPerSecond: 5, burst: 5 };

describe.skipIf(await withoutControlPlane('the operator with real pods', 'ours', 'controllers'))(
  'a TonApi with real pods',
  () => {
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
    }, 60_000);

    const change = (spec: object): Promise<ClusterObject> => cluster.client.merge(`${paths.tonApis}/main`, { spec });
    const reason = async (type: string): Promise<string | undefined> =>
      (await cluster.conditions('main'))[type]?.reason;
    const podNames = async (): Promise<string[]> =>
      (await cluster.client.list(`${paths.pods}?labelSelector=app.kubernetes.io/component=api`))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
        .toSorted();
    const restarts = async (): Promise<number> =>
      (await cluster.client.list(paths.pods)).reduce(
        (sum, pod) => sum + (pod['status'].containerStatuses?.[0]?.restartCount ?? 0),
        0,
      );
    const ask = async (key?: string): Promise<number> => {
      const headers = key === undefined ? {} : { 'x-api-key': key };
      const answer = await fetch(`${url}/api/v2/getMasterchainInfo`, { headers: { ...headers, connection: 'close' } });
      await answer.arrayBuffer();
      return answer.status;
    };
    const isObserved = async (): Promise<boolean> => {
      const { metadata, status } = await cluster.client.get(`${paths.tonApis}/main`);
      return metadata.generation === (status as { observedGeneration: number }).observedGeneration;
    };
    const keyOf = async (name: string): Promise<string> => {
      const secret = await cluster.client.get(`${paths.secrets}/${name}`);
      return Buffer.from(secret['data'].key, 'base64').toString();
    };
    const keyReason = async (name: string): Promise<string | undefined> => {
      const found = (await cluster.client.get(`${paths.tonApiKeys}/${name}`))['status']?.conditions ?? [];
      return (found as { type: string; reason: string }[]).find(({ type }) => type === 'Ready')?.reason;
    };
    const makeKey = (name: string, spec: object): Promise<ClusterObject> =>
      cluster.client.create(paths.tonApiKeys, {
        apiVersion: 'tonplane.dev/v1alpha1',
        kind: 'TonApiKey',
        metadata: { name },
        spec: { apiRef: { name: 'main' }, ...spec },
      });

    it(
      'becomes Ready and answers callers',
      async () => {
        const spec = { replicas: 3, plans: [free, pro, trickle], anonymousPlan: 'free' };
        await cluster.client.create(paths.tonApis, cluster.tonApi('main', spec));
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
        url = await cluster.forwarder.url('default', 'main-api', 'http');
        expect(await ask()).toBe(200);
      },
      minutes,
    );

    it(
      'gives customers keys that every pod knows',
      async () => {
        await makeKey('first', { plan: 'pro', rotation: { overlap: '1h', trigger: 'a' } });
        await makeKey('second', { plan: 'trickle' });
        await expect.poll(() => keyReason('first'), patience).toBe('InForce');
        await expect.poll(() => keyReason('second'), patience).toBe('InForce');
        const key = await keyOf('first');
        expect(await Promise.all(Array.from({ length: 6 }, () => ask(key)))).toEqual(Array(6).fill(200));
        expect(await ask(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBe(401);
      },
      minutes,
    );

    it(
      'holds a plan over all pods together',
      async () => {
        const key = await keyOf('second');
        const answers: number[] = [];
        const startedMs = performance.now();
        while (performance.now() - startedMs < 4000)
          answers.push(...(await Promise.all([ask(key), ask(key), ask(key)])));
        const seconds = (performance.now() - startedMs) / 1000;
        const served = answers.filter((status) => status === 200).length;
        expect(answers).toContain(429);
        // The burst, five a second, and what pods may lease ahead of each other.
        expect(served).toBeLessThanOrEqual(5 + 5 * seconds + 5);
        expect(served).toBeGreaterThanOrEqual(5 * seconds - 5);
      },
      minutes,
    );

    it(
      'takes over a change of plans and lite servers without restarting a pod',
      async () => {
        const before = await podNames();
        await change({
          plans: [{ ...free, requestsPerSecond: 90_000 }, pro, { ...trickle, requestsPerSecond: 900, burst: 900 }],
        });
        await expect.poll(() => reason('ConfigApplied'), patience).toBe('Applied');
        await expect.poll(isObserved, patience).toBe(true);
        await expect.poll(() => reason('ConfigApplied'), patience).toBe('Applied');
        const key = await keyOf('second');
        expect(await Promise.all(Array.from({ length: 30 }, () => ask(key)))).toEqual(Array(30).fill(200));
        expect({ pods: await podNames(), restarts: await restarts() }).toEqual({ pods: before, restarts: 0 });
      },
      minutes,
    );

    it(
      'rotates a key without refusing one request',
      async () => {
        const old = await keyOf('first');
        let current = old;
        const outcomes: number[] = [];
        const stopped = new AbortController();
        const customer = (async () => {
          while (!stopped.signal.aborted) {
            current = await keyOf('first');
            outcomes.push(await ask(current));
          }
        })();
        await cluster.client.merge(`${paths.tonApiKeys}/first`, { spec: { rotation: { trigger: 'b' } } });
        await expect.poll(() => keyOf('first'), patience).not.toBe(old);
        await expect.poll(() => keyReason('first'), patience).toBe('InForce');
        stopped.abort();
        await customer;
        expect(outcomes.filter((status) => status !== 200)).toEqual([]);
        expect(await ask(old)).toBe(200);
        expect(current).not.toBe(old);
      },
      minutes,
    );

    it(
      'puts a key out of force within seconds, and in force again',
      async () => {
        const key = await keyOf('second');
        await cluster.client.merge(`${paths.tonApiKeys}/second`, { spec: { disabled: true } });
        await expect.poll(() => ask(key), patience).toBe(401);
        await expect.poll(() => keyReason('second'), patience).toBe('Disabled');
        await cluster.client.merge(`${paths.tonApiKeys}/second`, { spec: { disabled: false } });
        await expect.poll(() => keyReason('second'), patience).toBe('InForce');
        await expect.poll(() => ask(key), patience).toBe(200);
        await cluster.client.delete(`${paths.tonApiKeys}/second`);
        await expect.poll(() => ask(key), patience).toBe(401);
        await expect.poll(() => cluster.client.find(`${paths.tonApiKeys}/second`), patience).toBeUndefined();
      },
      minutes,
    );

    it(
      'rolls a new image out without failing a request',
      async () => {
        const before = await podNames();
        const load = startLoad(`${url}/api/v2/getMasterchainInfo`, { clients: 4 });
        await change({ image: { tag: '0.2.0' } });
        await expect.poll(() => reason('Progressing'), patience).toBe('RollingOut');
        await expect.poll(() => reason('Progressing'), rolloutPatience).toBe('RolledOut');
        await expect.poll(async () => load.asked, patience).toBeGreaterThanOrEqual(5000);
        await load.stop();
        expect(load.failures).toEqual([]);
        expect((await podNames()).filter((name) => before.includes(name))).toEqual([]);
      },
      2 * rolloutPatience.timeout,
    );

    it(
      'writes nothing once everything is as it must be',
      async () => {
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
        let before = await operator.writes();
        // The last pods of the rollout leave, and their events with them.
        await new Promise((resolve) => setTimeout(resolve, 5000));
        before = await operator.writes();
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        expect(await operator.writes()).toEqual(before);
      },
      minutes,
    );

    it(
      'leaves nothing behind but what the user owns',
      async () => {
        await cluster.client.delete(`${paths.tonApis}/main`);
        const left = async (): Promise<string[]> => {
          const kinds = ['deployments', 'services', 'configMaps', 'secrets', 'pods'] as const;
          const found = await Promise.all(kinds.map((kind) => cluster.client.list(paths[kind])));
          return found.flatMap((objects) => objects.map(({ metadata }) => metadata.name)).toSorted();
        };
        await expect.poll(left, patience).toEqual(['first', 'kube-root-ca.crt', 'kubernetes', 'redis']);
        await cluster.client.delete(`${paths.tonApiKeys}/first`);
        await expect.poll(left, patience).toEqual(['kube-root-ca.crt', 'kubernetes', 'redis']);
      },
      minutes,
    );
  },
);
