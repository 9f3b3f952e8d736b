import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { revokeFinalizer } from '#operator/keys/key.ts';
import { parseOptions } from '#operator/options.ts';
import { uninstall } from '#operator/uninstall.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startOperatorUnderTest, writeKubeconfig, type OperatorUnderTest } from '#test/support/operator.ts';
import { joinControlPlane, type SharedControlPlane } from '#test/support/shared-control-plane.ts';

const patience = { timeout: 240_000, interval: 200 } as const;
const tenants = ['tenant-a', 'tenant-b'] as const;
const keysOf = (namespace: string): string => `/apis/tonplane.dev/v1alpha1/namespaces/${namespace}/tonapikeys`;
const key = (name: string, finalizers: readonly string[]) => ({
  apiVersion: 'tonplane.dev/v1alpha1',
  kind: 'TonApiKey',
  metadata: { name, finalizers },
  spec: { apiRef: { name: 'main' }, plan: 'free' },
});

describe.skipIf(await withoutControlPlane('operators beside each other', 'ours'))('operators in one namespace', () => {
  let plane: SharedControlPlane;
  let client: ClusterClient;
  const running: OperatorUnderTest[] = [];
  beforeAll(async () => {
    ({ plane, client } = await joinControlPlane());
    for (const name of tenants) await client.create('/api/v1/namespaces', { metadata: { name } });
  });
  afterAll(async () => {
    await Promise.all(running.map((operator) => operator.close()));
    await client?.close();
  });

  it('each lead for namespaces of their own, and one of two leads for the same namespaces', async () => {
    for (const namespace of tenants) {
      const operator = await startOperatorUnderTest(plane, ['--namespaces', namespace], `operator-${namespace}`);
      running.push(operator);
      await expect.poll(() => operator.isLeading(), patience).toBe(true);
    }
    running.push(await startOperatorUnderTest(plane, ['--namespaces', 'tenant-b'], 'operator-beside-b'));
    expect(running.map((operator) => operator.isLeading())).toEqual([true, true, false]);
    for (const namespace of tenants) await client.create(keysOf(namespace), key('customer', []));
    for (const namespace of tenants) {
      await expect
        .poll(async () => (await client.get(`${keysOf(namespace)}/customer`)).metadata.finalizers, patience)
        .toEqual([revokeFinalizer]);
    }
  });

  it('let a paused key go that is deleted', async () => {
    const paused = key('paused', [revokeFinalizer]);
    const annotations = { 'tonplane.dev/paused': 'a fire' };
    await client.create(keysOf('tenant-a'), { ...paused, metadata: { ...paused.metadata, annotations } });
    await client.send('DELETE', `${keysOf('tenant-a')}/paused`);
    await expect.poll(() => client.find(`${keysOf('tenant-a')}/paused`), patience).toBeUndefined();
  });

  it('leave no finalizer behind when they are uninstalled, and other finalizers alone', async () => {
    await client.create(keysOf('tenant-a'), key('other', [revokeFinalizer, 'example.com/other']));
    const options = parseOptions(
      ['uninstall', '--deployment=gone', '--kubeconfig', plane.kubeconfigPath, '--namespaces=tenant-a'],
      { POD_NAMESPACE: 'default' },
    );
    expect(await uninstall(options, { register: new Registry() })).toContain('2 of 2 TonApiKeys');
    const finalizersOf = async (path: string) => (await client.get(path)).metadata.finalizers ?? [];
    expect(await finalizersOf(`${keysOf('tenant-a')}/other`)).toEqual(['example.com/other']);
    expect(await finalizersOf(`${keysOf('tenant-a')}/customer`)).toEqual([]);
    expect(await finalizersOf(`${keysOf('tenant-b')}/customer`)).toEqual([revokeFinalizer]);
  });

  it('serve the namespaces that they may read beside one that is gone, and are uninstalled there', async () => {
    const account = { name: 'confined', namespace: 'default' };
    await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: account.name } });
    for (const namespace of ['default', 'tenant-a']) {
      await client.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: account.name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      });
    }
    const path = `/api/v1/namespaces/default/serviceaccounts/${account.name}/token`;
    const { status } = await client.create(path, { spec: { expirationSeconds: 3600 } });
    const args = ['--namespaces', 'tenant-a,tenant-gone'];
    const operator = await startOperatorUnderTest(plane, args, 'operator-confined', { token: status.token });
    running.push(operator);
    const ready = async () => (await fetch(`http://127.0.0.1:${operator.healthPort}/readyz`)).status;
    await expect.poll(ready, patience).toBe(200);
    await client.create(keysOf('tenant-a'), key('beside-gone', []));
    await expect
      .poll(async () => (await client.get(`${keysOf('tenant-a')}/beside-gone`)).metadata.finalizers, patience)
      .toEqual([revokeFinalizer]);
    expect(await operator.register.metrics()).toContain(
      'ton_operator_watch_forbidden{resource="TonApiKey",namespace="tenant-gone"} 1',
    );
    await operator.close();
    running.splice(0);
    const kubeconfig = writeKubeconfig(plane, status.token);
    const options = parseOptions(
      ['uninstall', '--deployment=gone', '--kubeconfig', kubeconfig, '--namespaces=tenant-a,tenant-gone'],
      { POD_NAMESPACE: 'default' },
    );
    expect(await uninstall(options, { register: new Registry() })).toContain('refuses to list those of tenant-gone');
    expect((await client.get(`${keysOf('tenant-a')}/beside-gone`)).metadata.finalizers ?? []).toEqual([]);

    for (const [more, refused] of [
      [['--namespaces=tenant-gone,tenant-lost'], 'tenant-gone, tenant-lost'],
      [[], 'all namespaces'],
    ] as const) {
      const given = ['uninstall', '--deployment=gone', '--kubeconfig', kubeconfig, ...more];
      const sentence = await uninstall(parseOptions(given, { POD_NAMESPACE: 'default' }), { register: new Registry() });
      expect(sentence).toContain('0 of 0 TonApiKeys');
      expect(sentence).toContain(`refuses to list those of ${refused}`);
    }
  });
});
