import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

type Namespace = Awaited<ReturnType<typeof createNamespace>>;

const what = 'an upgrade after the end of a namespace';
const missing = withoutHelm(what) || (await withoutControlPlane(what));

const lists = (...names: string[]): string[] => ['--set', `namespaces={${names.join(',')}}`];

describe.skipIf(missing)('a listed namespace that is deleted', () => {
  let client: ClusterClient;
  let helm: Helm;
  let stays: Namespace;
  let goes: Namespace;
  beforeAll(async () => {
    const { plane, client: joined } = await joinControlPlane();
    client = joined;
    helm = createHelm(plane.kubeconfigPath);
    stays = await createNamespace(client, 'stays');
    goes = await createNamespace(client, 'goes');
  });
  afterAll(async () => {
    await stays?.delete();
    helm?.close();
    await client?.close();
  });

  it('stops an upgrade with its name, and the command of the chart takes it off the list', async () => {
    const release = ['ton', join(chartsFolder, 'tonplane'), '--namespace', stays.name];
    const values = ['--set', 'replicas=0,crds.enabled=false'];
    await helm.run('install', ...release, ...values, ...lists(stays.name, goes.name));
    await end(goes);
    const upgrade = ['upgrade', ...release, '--reset-then-reuse-values'];
    expect(await helm.refusal(...upgrade)).toContain(`namespaces "${goes.name}" not found`);
    await helm.run(...upgrade, ...lists(stays.name));
    await helm.run('uninstall', 'ton', '--namespace', stays.name, '--no-hooks');
  });

  /** Ends a namespace as its controller does, which this control plane may lack. */
  async function end(namespace: Namespace): Promise<void> {
    const { name } = namespace;
    for (const kind of ['roles', 'rolebindings'])
      await client.delete(`/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/${kind}/ton-tonplane`);
    await namespace.delete();
    const path = `/api/v1/namespaces/${name}`;
    const left = await client.find(path);
    if (left !== undefined) await client.send('PUT', `${path}/finalize`, { ...left, spec: { finalizers: [] } });
    await expect.poll(() => client.find(path)).toBeUndefined();
  }
});
