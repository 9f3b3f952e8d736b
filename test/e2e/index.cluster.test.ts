import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { startPostgres, type PostgresServer } from '#test/support/postgres-server.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 400_000, interval: 200 } as const;
const minutes = 900_000;

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const statefulSets = '/apis/apps/v1/namespaces/default/statefulsets';

/** Unix milliseconds, of whole seconds. */
const completedAt = ({ status }: ClusterObject): number =>
  Date.parse((status as { completionTime?: string } | undefined)?.completionTime ?? '');
const createdAt = ({ metadata }: ClusterObject): number =>
  Date.parse((metadata as { creationTimestamp?: string }).creationTimestamp ?? '');

describe.skipIf(await withoutControlPlane('the index with real pods', 'ours', 'controllers'))(
  'a TonApi with an index',
  () => {
    let cluster: TonCluster;
    let postgres: PostgresServer;
    let operator: OperatorUnderTest;
    beforeAll(async () => {
      [cluster, postgres] = await Promise.all([startTonCluster(), startPostgres()]);
      await cluster.client.create(paths.secrets, { metadata: { name: 'postgres' }, stringData: { uri: postgres.url } });
      operator = await startOperatorUnderTest(cluster.plane);
    }, minutes);
    afterAll(async () => {
      await operator?.close();
      await cluster?.stop();
      await postgres?.close();
    });

    const reason = async (type: string, name = 'main'): Promise<string | undefined> =>
      (await cluster.conditions(name))[type]?.reason;
    const indexer = async (): Promise<unknown> =>
      (await cluster.client.get(`${paths.tonApis}/main`))['status']?.indexer;
    const jobNames = async (): Promise<string[]> =>
      (await cluster.client.list(jobs)).map(({ metadata }) => metadata.name).toSorted();
    const podsOf = async (component: string): Promise<readonly ClusterObject[]> =>
      (await cluster.client.list(`${paths.pods}?labelSelector=app.kubernetes.io/component=${component}`)).filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
      );
    const imagesOf = async (component: string): Promise<unknown[]> =>
      (await podsOf(component)).map((pod) => pod['spec'].containers[0].image as unknown);

    it(
      'makes the tables first, then fills them and serves v3 from them',
      async () => {
        const spec = {
          replicas: 1,
          surfaces: ['v2', 'v3'],
          postgres: { secretRef: { name: 'postgres' } },
          indexer: {},
          tokenMetadata: {},
        };
        await cluster.client.create(paths.tonApis, cluster.tonApi('main', spec));
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
        expect(await reason('Migrated')).toBe('SchemaCurrent');
        expect(await reason('MetadataRunning')).toBe('Running');
        expect(await indexer()).toBe('Live');
        const [job] = await cluster.client.list(jobs);
        const pods = [...(await podsOf('api')), ...(await podsOf('indexer')), ...(await podsOf('metadata'))];
        expect(pods).toHaveLength(3);
        for (const pod of pods) expect(createdAt(pod)).toBeGreaterThanOrEqual(completedAt(job as ClusterObject));
        const url = await cluster.forwarder.url('default', 'main-api', 'http');
        const [v3, v2] = await Promise.all(
          ['v3/masterchainInfo', 'v2/getMasterchainInfo'].map(async (path) =>
            (await fetch(`${url}/api/${path}`)).json(),
          ),
        );
        const { last } = v3 as { last: { seqno: number; root_hash: string } };
        const { result } = v2 as { result: { last: { seqno: number; root_hash: string } } };
        expect(last).toMatchObject({ seqno: result.last.seqno, root_hash: result.last.root_hash });
      },
      minutes,
    );

    it(
      'migrates for another image before a pod of it starts, and leaves the pods that run alone meanwhile',
      async () => {
        const before = await jobNames();
        await cluster.client.merge(`${paths.tonApis}/main`, { spec: { image: { tag: 'next' } } });
        await expect.poll(async () => (await jobNames()).length, patience).toBe(before.length + 1);
        const fresh = (await jobNames()).find((name) => !before.includes(name)) ?? '';
        const image = 'tonplane/service:next';
        await expect.poll(() => imagesOf('api'), patience).toEqual([image]);
        await expect.poll(() => imagesOf('indexer'), patience).toEqual([image]);
        await expect.poll(() => imagesOf('metadata'), patience).toEqual([image]);
        const job = await cluster.client.get(`${jobs}/${fresh}`);
        expect(job['spec'].template.spec.containers[0].image).toBe(image);
        for (const pod of [...(await podsOf('api')), ...(await podsOf('indexer')), ...(await podsOf('metadata'))]) {
          expect(createdAt(pod)).toBeGreaterThanOrEqual(completedAt(job));
        }
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
      },
      minutes,
    );

    it(
      'starts no pod while its tables cannot be made, tells why, and goes on when the cause is mended',
      async () => {
        const wrong = Object.assign(new URL(postgres.url), { password: 'wrong' }).href;
        const secret = { metadata: { name: 'rotated' }, stringData: { uri: wrong } };
        await cluster.client.create(paths.secrets, secret);
        const spec = {
          replicas: 1,
          surfaces: ['v2', 'v3'],
          postgres: { secretRef: { name: 'rotated' }, schema: 'late' },
        };
        await cluster.client.create(paths.tonApis, cluster.tonApi('late', spec));
        const message = async (): Promise<string | undefined> =>
          (await cluster.conditions('late'))['Migrated']?.message;
        await expect.poll(message, patience).toContain('it says: tonplane: password authentication failed');
        expect(await reason('Migrated', 'late')).toBe('MigrationRunning');
        expect(await cluster.client.find(`${paths.deployments}/late-api`)).toBeUndefined();
        await cluster.client.merge(`${paths.secrets}/rotated`, {
          data: { uri: Buffer.from(postgres.url).toString('base64') },
        });
        await expect.poll(() => reason('Ready', 'late'), patience).toBe('Serving');
        await cluster.client.delete(`${paths.tonApis}/late`);
      },
      minutes,
    );

    it(
      'shares the past among as many pods as there are partitions',
      async () => {
        await cluster.client.merge(`${paths.tonApis}/main`, {
          spec: { indexer: { mode: 'Partitioned', partitions: 2 } },
        });
        const ready = async (): Promise<unknown> =>
          (await cluster.client.get(`${statefulSets}/main-indexer`))['status']?.readyReplicas;
        await expect.poll(ready, patience).toBe(2);
        await expect.poll(indexer, patience).toBe('Live');
        const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/main-indexer';
        expect((await cluster.client.get(budget))['spec'].maxUnavailable).toBe(1);
      },
      minutes,
    );
  },
);
