import { describe, expect, it } from 'vitest';

import { driftManagers, ownedPaths } from '#operator/diff/drift.ts';
import type { KubernetesObject, ManagedFields } from '#operator/kubernetes/object.ts';

describe('whoever changed a field', () => {
  const kubectl = entry('kubectl-edit', { 'f:spec': { 'f:replicas': {} } }, '2026-11-21T10:00:00Z');
  const mesh = entry(
    'mesh',
    { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"api"}': { 'f:image': {} } } } } } },
    '2026-11-21T11:00:00Z',
  );
  const ports = entry(
    'patcher',
    { 'f:spec': { 'f:ports': { 'k:{"port":8081,"protocol":"TCP"}': { 'f:targetPort': {} } } } },
    '2026-11-21T09:00:00Z',
  );
  const ours = entry('ton-operator', { 'f:spec': { 'f:replicas': {} } }, '2026-11-21T12:00:00Z');
  const status = {
    ...entry('kube-controller-manager', { 'f:status': {} }, '2026-11-21T13:00:00Z'),
    subresource: 'status',
  };
  const scaler = {
    ...entry('kube-controller-manager', { 'f:spec': { 'f:replicas': {} } }, '2026-11-21T08:00:00Z'),
    subresource: 'scale',
  };
  const all = [kubectl, mesh, ports, ours, status];

  it.each<[string, string[], string[]]>([
    ['a field', ['spec.replicas'], ['kubectl-edit']],
    ['a field of a list element', ['spec.template.spec.containers[api].image'], ['mesh']],
    ['an element with two keys', ['spec.ports[8081/TCP].targetPort'], ['patcher']],
    ['several fields', ['spec.replicas', 'spec.template.spec.containers[api].image'], ['kubectl-edit', 'mesh']],
    ['a field that was taken away: the last who wrote', ['spec.minReadySeconds'], ['mesh']],
  ])('is known by %s', (_case, paths, expected) => {
    expect(driftManagers(objectWith(all), paths)).toEqual(expected);
  });

  it.each(['scale', 'resize'])('is the manager of the subresource %s that set the field', (subresource) => {
    const setter = entry('kubectl-set', { 'f:spec': { 'f:minReadySeconds': {} } }, '2026-11-21T14:00:00Z');
    const live = objectWith([setter, { ...scaler, subresource }, status]);
    expect(driftManagers(live, ['spec.replicas'])).toEqual(['kube-controller-manager']);
    expect(driftManagers(live, ['spec.minReadySeconds'])).toEqual(['kubectl-set']);
  });

  it('is unknown when the server does not tell', () => {
    expect(driftManagers(objectWith([]), ['spec.replicas'])).toEqual(['unknown']);
    expect(driftManagers(objectWith([ours, status]), ['spec.replicas'])).toEqual(['unknown']);
  });

  it('ownedPaths names paths like compareFields', () => {
    const fields = {
      'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/name': {} } },
      'f:spec': { 'f:ports': { '.': {}, 'k:{"port":8081,"protocol":"TCP"}': { '.': {}, 'f:name': {} } } },
    };
    expect(ownedPaths(objectWith([{ ...ours, fieldsV1: fields }]))).toEqual([
      'metadata.labels[app.kubernetes.io/name]',
      'spec.ports[8081/TCP].name',
    ]);
    expect(ownedPaths(objectWith([kubectl]))).toBeUndefined();
  });
});

function entry(manager: string, fieldsV1: NonNullable<ManagedFields['fieldsV1']>, time: string): ManagedFields {
  return { manager, operation: manager === 'ton-operator' ? 'Apply' : 'Update', fieldsV1, time };
}

function objectWith(managedFields: readonly ManagedFields[]): KubernetesObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x', managedFields } };
}
