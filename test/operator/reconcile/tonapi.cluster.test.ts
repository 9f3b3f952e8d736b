import { gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import {
  pathOf,
  startOperatorCluster,
  tonApi,
  tonApiPath,
  type OperatorCluster,
} from '#test/support/operator-cluster.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { applyOptionalApis } from '#test/support/optional-apis.ts';

const patience = { timeout: 240_000, interval: 50 } as const;

describe.skipIf(await withoutControlPlane('the operator', 'ours', 'controllers'))('the operator', () => {
  let on: OperatorCluster;
  beforeAll(async () => {
    on = await startOperatorCluster();
  });
  afterAll(() => on?.stop());

  const replicasOf = async (name: string): Promise<unknown> => (await on.child('Deployment', name))?.['spec'].replicas;

  it('makes the children of a TonApi, each owned by it', async () => {
    const made = await on.apply('main');
    await on.settled('main');
    const kinds = [
      'ConfigMap',
      'ServiceAccount',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'NetworkPolicy',
    ] as const;
    const children = await Promise.all(kinds.map((kind) => on.client.list(pathOf(kind))));
    const owned = children.flatMap((objects, at) =>
      objects
        .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === made.metadata.uid)
        .map(({ metadata }) => `${kinds[at]} ${metadata.name}`),
    );
    expect(owned.toSorted()).toEqual(
      [
        'ConfigMap main-config',
        'Deployment main-api',
        'Deployment main-redis',
        'NetworkPolicy main-api',
        'NetworkPolicy main-redis',
        'PodDisruptionBudget main-api',
        'Service main-api',
        'Service main-redis',
        'ServiceAccount main-pods',
      ].toSorted(),
    );
  });

  it('says what it waits for, and since when', async () => {
    const { Ready, Available, Progressing } = await on.conditions('main');
    expect(Ready?.reason).toBe('NoReadyPods');
    expect(Available?.message).toMatch(/no pod is ready; no node fits[^,]*, since 20\d\d-/);
    expect(Progressing?.reason).toBe('RollingOut');
  });

  it('writes nothing while nothing changes, after a restart of its own, and after one of the API server', async () => {
    const many = Array.from({ length: 10 }, (_, at) => `many-${at}`);
    for (const name of many) await on.apply(name);
    await on.settled(...many);
    await on.restartOperator();
    await expect.poll(() => on.operator.isLeading(), patience).toBe(true);
    await on.settled('main');
    expect(await on.operator.writes()).toEqual({});
    await on.plane.restartApiServer();
    await on.settled('main');
    expect(await on.operator.writes()).toEqual({});
    for (const name of many) await on.client.delete(`${tonApiPath}/${name}`);
  });

  it('leaves alone what others add, and undoes what they change', async () => {
    await on.client.merge(`${pathOf('Deployment')}/main-api`, {
      metadata: { labels: { team: 'sre', 'app.kubernetes.io/part-of': 'other' }, annotations: { cost: '7' } },
      spec: { minReadySeconds: 99, paused: true },
    });
    await expect
      .poll(async () => (await on.child('Deployment', 'main-api'))?.['spec'].minReadySeconds, patience)
      .toBe(5);
    const { metadata, spec } = (await on.child('Deployment', 'main-api')) ?? { metadata: { name: '' } };
    expect(metadata.labels).toMatchObject({ team: 'sre', 'app.kubernetes.io/part-of': 'tonplane' });
    expect(metadata.annotations).toMatchObject({ cost: '7' });
    expect(spec.paused).toBe(true);
    await on.client.merge(`${pathOf('Deployment')}/main-api`, { spec: { paused: null } });
  });

  it('makes again what somebody deletes, also when the label was taken away', async () => {
    const before = await on.child('Service', 'main-api');
    await on.client.delete(`${pathOf('Service')}/main-api`);
    await expect.poll(async () => (await on.child('Service', 'main-api'))?.metadata.uid, patience).toBeDefined();
    expect((await on.child('Service', 'main-api'))?.metadata.uid).not.toBe(before?.metadata.uid);
    const label = 'app.kubernetes.io/managed-by';
    await on.client.merge(`${pathOf('ServiceAccount')}/main-pods`, { metadata: { labels: { [label]: null } } });
    await expect
      .poll(async () => (await on.child('ServiceAccount', 'main-pods'))?.metadata.labels?.[label], patience)
      .toBe('ton-operator');
  });

  it('hands replicas to an autoscaler and takes them back without ever dipping below the live count', async () => {
    await on.apply('scaled', { replicas: 4 });
    await on.settled('scaled');
    const seen: unknown[] = [];
    const stop = new AbortController();
    on.client.follow(
      `${pathOf('Deployment')}?fieldSelector=metadata.name%3Dscaled-api`,
      (_type, object) => seen.push(object['spec'].replicas),
      stop.signal,
    );
    const autoscaling = { provider: 'HPA', minReplicas: 2, maxReplicas: 20, targetCPUUtilization: 70 };
    await on.apply('scaled', { replicas: 4, autoscaling });
    await expect.poll(() => on.child('HorizontalPodAutoscaler', 'scaled-api'), patience).toBeDefined();
    await on.settled('scaled');
    expect(await replicasOf('scaled-api')).toBe(4);
    await on.client.merge(`${pathOf('Deployment')}/scaled-api/scale`, { spec: { replicas: 9 } });
    await on.apply('scaled', { replicas: 4, autoscaling, requestTimeout: '11s' });
    await on.settled('scaled');
    expect(await replicasOf('scaled-api')).toBe(9);
    await on.apply('scaled', { replicas: 4 });
    await expect.poll(() => replicasOf('scaled-api'), patience).toBe(4);
    await expect.poll(() => on.child('HorizontalPodAutoscaler', 'scaled-api'), patience).toBeUndefined();
    stop.abort();
    expect(Math.min(...(seen as number[]))).toBe(4);
    await on.client.delete(`${tonApiPath}/scaled`);
  });

  it('ends all pods and the autoscaler in hibernation, keeps the Services, and comes back', async () => {
    const autoscaling = { provider: 'HPA', minReplicas: 3, maxReplicas: 20, targetCPUUtilization: 70 };
    await on.apply('sleeper', { autoscaling });
    await expect.poll(() => on.child('HorizontalPodAutoscaler', 'sleeper-api'), patience).toBeDefined();
    await on.settled('sleeper');
    await on.apply('sleeper', { autoscaling, hibernate: true });
    await expect.poll(() => replicasOf('sleeper-api'), patience).toBe(0);
    await expect.poll(() => replicasOf('sleeper-redis'), patience).toBe(0);
    await expect.poll(() => on.child('HorizontalPodAutoscaler', 'sleeper-api'), patience).toBeUndefined();
    await expect.poll(async () => (await on.conditions('sleeper'))['Ready']?.reason, patience).toBe('Hibernated');
    await expect.poll(async () => (await on.conditions('sleeper'))['Hibernated']?.status, patience).toBe('True');
    await expect.poll(() => on.child('PodDisruptionBudget', 'sleeper-api'), patience).toBeUndefined();
    expect(await on.child('Service', 'sleeper-api')).toBeDefined();
    await on.settled('sleeper');
    await on.apply('sleeper', { autoscaling });
    await expect.poll(() => replicasOf('sleeper-api'), patience).toBe(3);
    await expect.poll(() => replicasOf('sleeper-redis'), patience).toBe(1);
    await expect.poll(() => on.child('HorizontalPodAutoscaler', 'sleeper-api'), patience).toBeDefined();
    await expect.poll(async () => (await on.conditions('sleeper'))['Hibernated'], patience).toBeUndefined();
    await on.client.delete(`${tonApiPath}/sleeper`);
  });

  it('lets a key go that is deleted in hibernation, where no Redis answers', async () => {
    await on.apply('asleep', { hibernate: true });
    await expect.poll(async () => (await on.conditions('asleep'))['Ready']?.reason, patience).toBe('Hibernated');
    const keys = '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapikeys';
    await on.client.create(keys, {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApiKey',
      metadata: { name: 'night' },
      spec: { apiRef: { name: 'asleep' }, plan: 'free' },
    });
    const ready = async () => {
      const conditions = (await on.client.get(`${keys}/night`))['status']?.conditions ?? [];
      return (conditions as { type: string; reason: string }[]).find(({ type }) => type === 'Ready')?.reason;
    };
    await expect.poll(ready, patience).toBe('Hibernated');
    const rows = async () => {
      const data = (await on.child('Secret', 'asleep-keyring-0'))?.['data'] ?? {};
      return Object.values(data).map((packed) => gunzipSync(Buffer.from(String(packed), 'base64')).toString());
    };
    await expect.poll(rows, patience).toEqual([expect.stringContaining('default/night')]);
    await on.client.send('DELETE', `${keys}/night`);
    await expect.poll(() => on.client.find(`${keys}/night`), patience).toBeUndefined();
    expect((await rows()).filter((text) => text.includes('default/night'))).toEqual([]);
    await on.client.delete(`${tonApiPath}/asleep`);
  });

  it('touches nothing of a name that is taken, says so, and takes over what it is handed', async () => {
    const taken = { metadata: { name: 'late-api' }, spec: { ports: [{ name: 'other', port: 99 }] } };
    await on.client.create(pathOf('Service'), taken);
    await on.apply('late');
    await expect.poll(async () => (await on.conditions('late'))['Stalled']?.reason, patience).toBe('NameTaken');
    expect((await on.conditions('late'))['Ready']?.message).toContain('Service late-api');
    expect((await on.child('Service', 'late-api'))?.['spec'].ports[0].port).toBe(99);
    await on.client.merge(`${pathOf('Service')}/late-api`, {
      metadata: {
        annotations: { 'tonplane.dev/adopt': 'true' },
        labels: { 'app.kubernetes.io/managed-by': 'ton-operator' },
      },
    });
    await expect.poll(async () => (await on.conditions('late'))['Stalled'], patience).toBeUndefined();
    expect((await on.child('Service', 'late-api'))?.metadata.ownerReferences?.[0]?.name).toBe('late');
    await on.client.delete(`${tonApiPath}/late`);
  });

  it('waits for what the spec names, and goes on when it is there and as it must be', async () => {
    const { liteServers: _servers, ...spec } = tonApi('named')['spec'];
    const named = { ...tonApi('named'), spec: { ...spec, liteServerConfigRef: { name: 'global' } } };
    await on.client.create(tonApiPath, named);
    const reason = async (): Promise<string | undefined> =>
      (await on.conditions('named'))['ReferencesResolved']?.reason;
    await expect.poll(reason, patience).toBe('ConfigMapNotFound');
    expect(await on.child('Deployment', 'named-api')).toBeUndefined();
    await on.client.create(pathOf('ConfigMap'), { metadata: { name: 'global' }, data: { other: 'x' } });
    await expect.poll(reason, patience).toBe('KeyMissing');
    await on.client.merge(`${pathOf('ConfigMap')}/global`, { data: { 'global.config.json': '{"liteservers": []}' } });
    await expect.poll(reason, patience).toBe('InvalidReference');
    const liteservers = [{ ip: 2130706433, port: 4443, id: { '@type': 'pub.ed25519', key: `${'A'.repeat(43)}=` } }];
    const state = {
      workchain: -1,
      shard: '-9223372036854775808',
      seqno: 0,
      root_hash: `${'A'.repeat(43)}=`,
      file_hash: `${'A'.repeat(43)}=`,
    };
    const text = JSON.stringify({ liteservers, validator: { zero_state: state } });
    await on.client.merge(`${pathOf('ConfigMap')}/global`, { data: { 'global.config.json': text } });
    await expect.poll(reason, patience).toBe('Resolved');
    await expect.poll(() => on.child('Deployment', 'named-api'), patience).toBeDefined();
    await on.client.delete(`${tonApiPath}/named`);
  });

  it('writes nothing while paused, shows the reason, and catches up afterwards', async () => {
    await on.annotate('main', { 'tonplane.dev/paused': 'incident 7' });
    await expect.poll(async () => (await on.conditions('main'))['Paused']?.message, patience).toBe('incident 7');
    await on.apply('main', { replicas: 5 });
    await on.settled('main');
    expect(await replicasOf('main-api')).toBe(2);
    await on.annotate('main', { 'tonplane.dev/paused': null });
    await expect.poll(() => replicasOf('main-api'), patience).toBe(5);
    await expect.poll(async () => (await on.conditions('main'))['Paused'], patience).toBeUndefined();
  });

  it('shows a plan instead of writing, where one is asked for', async () => {
    await on.annotate('main', { 'tonplane.dev/plan': 'true' });
    await on.apply('main', { replicas: 6, requestTimeout: '20s' });
    const plan = async (): Promise<string> => (await on.child('ConfigMap', 'main-plan'))?.['data']['plan.txt'] ?? '';
    await expect.poll(plan, patience).toContain('spec.replicas: 5 -> 6');
    expect(await plan()).toContain('update Deployment main-api (restarts pods');
    expect(await replicasOf('main-api')).toBe(5);
    await on.annotate('main', { 'tonplane.dev/plan': null });
    await expect.poll(() => replicasOf('main-api'), patience).toBe(6);
    await expect.poll(() => on.child('ConfigMap', 'main-plan'), patience).toBeUndefined();
  });

  it('restarts pods once for each value of the annotation', async () => {
    const template = async (): Promise<unknown> =>
      (await on.child('Deployment', 'main-api'))?.['spec'].template.metadata.annotations;
    await on.annotate('main', { 'tonplane.dev/restart': 'one' });
    await expect.poll(template, patience).toMatchObject({ 'tonplane.dev/restart': 'one' });
    await on.settled('main');
    const before = await template();
    await on.annotate('main', { 'tonplane.dev/restart': 'one', look: 'again' });
    await on.settled('main');
    expect(await template()).toEqual(before);
  });

  it.skipIf(withoutOptionalApis('an optional API that comes later', ['ServiceMonitor']))(
    'uses an optional API that comes later, without a restart',
    async () => {
      await on.apply('main', { observability: { serviceMonitor: true } });
      await expect
        .poll(async () => (await on.conditions('main'))['ReferencesResolved']?.message, patience)
        .toContain('ServiceMonitor');
      await applyOptionalApis(on.client, ['ServiceMonitor']);
      const path = '/apis/monitoring.coreos.com/v1/namespaces/default/servicemonitors/main-api';
      await expect.poll(() => on.client.find(path), { interval: 500 }).toBeDefined();
    },
  );
});
