import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAuditLog } from '#test/support/audit-log.ts';
import { createClusterClient, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';
import { applyDefinitions } from '#test/support/crds.ts';
import { pathOf, tonApi, tonApiPath } from '#test/support/operator-cluster.ts';
import { writeKubeconfig } from '#test/support/operator.ts';
import { operatorProgram } from '#test/support/programs.ts';
import { createReaper } from '#test/support/reaper.ts';

/** A Lease runs out after 15 s; the rest is a busy machine. */
const patience = { timeout: 240_000, interval: 200 } as const;

/** Parts of one reconcile are written within this of each other. */
const restMs = 2000;

const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/ton-operator';
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const writing: ReadonlySet<string> = new Set(['create', 'patch', 'update', 'delete']);

describe.skipIf(await withoutControlPlane('a frozen leader', 'ours'))('a leader that is frozen', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-frozen-'));
  const audit = createAuditLog(folder);
  const reaper = createReaper();
  let plane: ControlPlane;
  let client: ClusterClient;
  beforeAll(async () => {
    plane = await startControlPlane({ controllers: false, apiServerFlags: audit.apiServerFlags });
    client = createClusterClient({ ...plane, token: plane.adminToken });
    await applyDefinitions(client);
  });
  afterAll(async () => {
    reaper.close();
    await client?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An operator as a process of its own, with an account of its own by which the audit log knows it. */
  async function start(name: string): Promise<{ child: ChildProcess; ended: Promise<number | null> }> {
    await client.create(pathOf('ServiceAccount'), { metadata: { name } });
    await client.create(bindings, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    });
    const path = `${pathOf('ServiceAccount')}/${name}/token`;
    const { status } = await client.create(path, { spec: { expirationSeconds: 3600 } });
    const kubeconfig = writeKubeconfig(plane, (status as { token: string }).token);
    const ports = ['--metrics-port', '0', '--health-port', '0'];
    const args = ['--kubeconfig', kubeconfig, '--host', '127.0.0.1', '--log-level', 'error', ...ports];
    const child = spawn(process.execPath, [operatorProgram, ...args], {
      env: { ...process.env, POD_NAME: name, POD_NAMESPACE: 'default' },
      stdio: 'ignore',
    });
    if (child.pid !== undefined) reaper.add(child.pid);
    return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
  }

  const holder = async (): Promise<unknown> => (await client.find(lease))?.['spec'].holderIdentity;
  const replicas = async (): Promise<unknown> =>
    (await client.find(`${pathOf('Deployment')}/main-api`))?.['spec'].replicas;
  const scale = (count: number) => client.apply(`${tonApiPath}/main`, tonApi('main', { replicas: count }), 'user');
  const writesOf = (name: string) =>
    audit
      .requests(`system:serviceaccount:default:${name}`)
      .filter(({ verb, resource }) => writing.has(verb) && !resource.endsWith('/leases'));

  /** Whether it has nothing more to write: a request that was let through already is sent whenever the process goes on. */
  const rests = async (name: string): Promise<boolean> => {
    const writes = writesOf(name).length;
    await sleep(restMs);
    return writes > 0 && writesOf(name).length === writes;
  };

  it('is followed by the standby, ends when it wakes, and writes nothing any more', async () => {
    const first = await start('first');
    await expect.poll(holder, patience).toBe('first');
    const second = await start('second');
    await scale(3);
    await expect.poll(replicas, patience).toBe(3);
    await expect.poll(() => rests('first'), patience).toBe(true);

    first.child.kill('SIGSTOP');
    await scale(7);
    await expect.poll(replicas, patience).toBe(7);
    expect(await holder()).toBe('second');
    const before = writesOf('first');

    // Its watches have this for it when it wakes.
    await scale(9);
    first.child.kill('SIGCONT');
    expect(await first.ended).toBe(1);
    await expect.poll(replicas, patience).toBe(9);
    expect(writesOf('first')).toEqual(before);

    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  });
});
