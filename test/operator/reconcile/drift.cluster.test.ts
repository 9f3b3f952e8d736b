import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ownedPaths } from '#operator/diff/drift.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { ClusterError, type ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import {
  pathOf,
  startOperatorCluster,
  tonApiPath,
  type ChildKind,
  type OperatorCluster,
} from '#test/support/operator-cluster.ts';

const patience = { timeout: 240_000, interval: 20 } as const;

/** Kinds whose fields are edited one by one. */
const kinds: readonly ChildKind[] = [
  'ConfigMap',
  'Service',
  'ServiceAccount',
  'Deployment',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'HorizontalPodAutoscaler',
];

describe.skipIf(await withoutControlPlane('correction of drift', 'ours', 'controllers'))('drift', () => {
  let on: OperatorCluster;
  let uid: string | undefined;
  beforeAll(async () => {
    on = await startOperatorCluster();
    const autoscaling = { provider: 'HPA', minReplicas: 2, maxReplicas: 20, targetCPUUtilization: 70 };
    ({ uid } = (await on.apply('main', { autoscaling })).metadata);
    await on.settled('main');
  });
  afterAll(() => on?.stop());

  it('of every field that we apply is undone, one after the other', async () => {
    const undone: string[] = [];
    for (const kind of kinds) {
      for (const { metadata } of await owned(kind)) undone.push(...(await editEach(kind, metadata.name)));
    }
    expect(undone.length).toBeGreaterThanOrEqual(60);
    expect((await on.conditions('main'))['Progressing']?.reason).not.toBe('FieldFight');
    const counted = await on.operator.register.getSingleMetric('ton_operator_drift_corrections_total')?.get();
    const byEditor = counted?.values.filter(({ labels }) => labels['manager'] === 'editor') ?? [];
    expect(byEditor.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThanOrEqual(60);
  });

  it('of the key of an element is undone too where two of them cannot stand side by side', async () => {
    const path = `${pathOf('Service')}/main-api`;
    const ports = async (): Promise<number[]> =>
      ((await on.client.get(path))['spec'].ports as { port: number }[])
        .map(({ port }) => port)
        .toSorted((a, b) => a - b);
    const before = await ports();
    const change = [{ op: 'replace', path: '/spec/ports/0/port', value: 4711 }];
    await on.client.send('PATCH', path, change, 'application/json-patch+json');
    await expect.poll(ports, patience).toEqual(before);
  });

  it('is called a fight when somebody changes one field back again and again, and then slowed down', async () => {
    await on.apply('fought');
    await on.settled('fought');
    const path = `${pathOf('Deployment')}/fought-redis`;
    const set = (value: number): Promise<ClusterObject> =>
      on.client.merge(path, { spec: { revisionHistoryLimit: value } });
    const limit = async (): Promise<unknown> =>
      (await on.child('Deployment', 'fought-redis'))?.['spec'].revisionHistoryLimit;
    for (let round = 0; round < 6; round += 1) {
      await set(9);
      await expect.poll(limit, patience).toBe(2);
    }
    await set(9);
    await expect.poll(async () => (await on.conditions('fought'))['Progressing']?.reason, patience).toBe('FieldFight');
    expect((await on.conditions('fought'))['Progressing']?.message).toContain('Deployment fought-redis');
    expect(await limit()).toBe(9);
    await on.client.delete(`${tonApiPath}/fought`);
  });

  async function owned(kind: ChildKind): Promise<readonly ClusterObject[]> {
    const all = await on.client.list(pathOf(kind));
    return all.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  }

  /** Changes each field that is ours, waits until it is back, and answers those that the server let us change. */
  async function editEach(kind: ChildKind, name: string): Promise<string[]> {
    const done: string[] = [];
    const path = `${pathOf(kind)}/${name}`;
    const before = await on.client.get(path);
    for (const field of ownedPaths({ ...before, kind } as KubernetesObject) ?? []) {
      const live = await on.client.get(path);
      const pointer = pointerOf(live, field);
      if (pointer === undefined || field.includes('applied-hash') || isKey(field, valueAt(live, pointer))) continue;
      const value = valueAt(live, pointer);
      const changed = otherThan(value);
      if (changed === undefined) continue;
      if (!(await edit(path, pointer, changed))) continue;
      await expect.poll(async () => valueAt(await on.client.get(path), pointer), patience).toEqual(value);
      done.push(`${kind} ${name} ${field}`);
    }
    return done;
  }

  /** False when the server takes no such value. */
  async function edit(path: string, pointer: readonly (string | number)[], value: unknown): Promise<boolean> {
    const at = `/${pointer.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
    try {
      const change = [{ op: 'replace', path: at, value }];
      await on.client.send('PATCH', `${path}?fieldManager=editor`, change, 'application/json-patch+json');
      return true;
    } catch (error) {
      if (error instanceof ClusterError && error.status === 422) return false;
      throw error;
    }
  }
});

/** The key of an element is not a field of it: with another one it is another's element, which stays, and ours is made again. */
function isKey(field: string, value: unknown): boolean {
  const [, key = ''] = /\[([^\]]*)\]\.[^.[]+$/.exec(field) ?? [];
  return key === value || key.split('/').includes(String(value));
}

/** Where a field is in the object: `spec.containers[api].image` -> spec, containers, 0, image. Undefined when it is not there. */
function pointerOf(object: ClusterObject, field: string): (string | number)[] | undefined {
  const pointer: (string | number)[] = [];
  let value: unknown = object;
  for (const [, key, name] of field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)) {
    const step = key ?? name ?? '';
    const at = Array.isArray(value) ? value.findIndex((element) => isElement(element, step)) : step;
    value = (value as Record<string | number, unknown> | undefined)?.[at];
    pointer.push(at);
    if (value === undefined) return undefined;
  }
  return pointer;
}

function isElement(element: unknown, key: string): boolean {
  const values = Object.values(Object(element) as object).map(String);
  return key.split('/').every((part) => values.includes(part)) || values.includes(key);
}

function valueAt(object: ClusterObject, pointer: readonly (string | number)[]): unknown {
  let value: unknown = object;
  for (const step of pointer) value = (value as Record<string | number, unknown> | undefined)?.[step];
  return value;
}

/** Another value of the same form; undefined for what has none. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return undefined;
  return /^\d+[a-zA-Z]*$/.test(value) ? `1${value}` : `${value}x`;
}
