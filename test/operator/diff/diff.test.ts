import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import type { DesiredObject } from '#operator/desired/references.ts';
import { diff, nameOf, type Change, type UpdateChange } from '#operator/diff/diff.ts';
import { leafPaths } from '#operator/diff/compare.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { annotated, references, release, sample, sampleNames } from '#test/operator/desired/samples.ts';

const everything = references({
  migrated: { schema: 1, key: migrationKey(sample('full')) },
  keyring: [row('a'), row('b')],
});
const withSchema = { ...release, schemaVersion: 2 };

describe('diff', () => {
  it.each(sampleNames)('creates every child where there is none: %s', (name) => {
    const desired = build(sample(name), everything, withSchema);
    const changes = diff(sample(name), desired, []);
    expect(changes.map(({ action }) => action)).toEqual(desired.map(() => 'create'));
  });

  it.each(sampleNames)('finds nothing to do when everything is applied, defaults and all: %s', (name) => {
    const desired = build(sample(name), everything, withSchema);
    expect(diff(sample(name), desired, desired.map(applied))).toEqual([]);
  });

  it('finds every edit of a field that we set, and calls it drift', () => {
    const full = sample('full');
    const desired = build(full, everything, withSchema).filter(({ object }) => object.kind !== 'Job');
    let edits = 0;
    for (const one of desired) {
      for (const path of leaves(one.object)) {
        const live = edited(applied(one), path);
        const changes = diff(full, [one], [live]);
        expect(changes, `${nameOf(one.object)} ${path.join('.')}`).toHaveLength(1);
        expect(changes[0], `${nameOf(one.object)} ${path.join('.')}`).toMatchObject({
          action: 'update',
          cause: 'drift',
        });
        edits++;
      }
    }
    // The target is 60 fields (operator/README.md#targets).
    expect(edits).toBeGreaterThanOrEqual(60);
  });

  it('finds any set of edits at once, each by its path', () => {
    const full = sample('full');
    const desired = build(full, everything, withSchema).filter(({ object }) => object.kind !== 'Job');
    const deployment = desired.find(({ object }) => nameOf(object) === 'Deployment/private-api') as DesiredObject;
    const paths = leaves(deployment.object);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: paths.length - 1 }), { minLength: 1, maxLength: 8 }), (chosen) => {
        const live = chosen.reduce((object, index) => edited(object, paths[index] ?? []), applied(deployment));
        const [change] = diff(full, [deployment], [live]) as [UpdateChange];
        expect(change.fields.length).toBeGreaterThanOrEqual(1);
        expect(change.fields.length).toBeLessThanOrEqual(chosen.length);
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('leaves alone what others add: sidecars, labels, annotations, defaults', () => {
    const desired = build(sample('full'), everything, withSchema);
    const live = desired.map(applied).map((object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { ...object.metadata.labels, cost: 'team' },
        annotations: { ...object.metadata.annotations, injected: 'yes' },
      },
      ...(object.kind === 'Deployment' && { spec: withSidecar(object.spec) }),
    }));
    expect(diff(sample('full'), desired, live)).toEqual([]);
  });

  it.each<[string, string, boolean]>([
    ['1000m', '1', true],
    ['1Gi', '1024Mi', true],
    ['1Gi', '1G', false],
  ])('takes the memory request %s for what it is when it is stored as %s', (given, stored, same) => {
    const tonApi = sample('typical', { resources: { requests: { memory: given } } });
    const desired = build(tonApi, references(), release);
    const live = desired
      .map(applied)
      .map((object) =>
        object.kind === 'Deployment'
          ? (JSON.parse(
              JSON.stringify(object).replaceAll(`"memory":"${given}"`, `"memory":"${stored}"`),
            ) as KubernetesObject)
          : object,
      );
    expect(diff(tonApi, desired, live).length).toBe(same ? 0 : 1);
  });

  it('calls it an edit when we want something else, and tells which field and whether pods restart', () => {
    const before = build(sample('typical'), references(), release).map(applied);
    const changed = (changes: Parameters<typeof sample>[1]): Change[] =>
      diff(sample('typical', changes), build(sample('typical', changes), references(), release), before);
    const hot = changed({ trustedProxies: 2 });
    expect(hot).toMatchObject([{ action: 'update', cause: 'edit', restart: { restart: false } }]);
    const cold = changed({ image: { tag: '0.2.0', pullPolicy: 'IfNotPresent' } }).find(
      (change) =>
        change.action === 'update' && change.live.metadata.name === 'mainnet-api' && change.live.kind === 'Deployment',
    );
    expect(cold).toMatchObject({ restart: { restart: true } });
    expect((cold as UpdateChange).fields).toContainEqual({
      path: 'spec.template.spec.containers[api].image',
      before: 'registry.example.com/tonplane/service:0.1.0',
      after: 'registry.example.com/tonplane/service:0.2.0',
    });
  });

  it('finds a field that we stopped setting, by the hash, and names it where the server tells who set it', () => {
    const [before] = deploymentOf({ podTemplate: { priorityClassName: 'high' } });
    const [after] = deploymentOf({});
    const live = applied(before as DesiredObject);
    const blind = diff(sample('typical'), [after as DesiredObject], [live]);
    expect(blind).toMatchObject([{ action: 'update', cause: 'edit' }]);
    const fieldsV1 = {
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:priorityClassName': {}, 'f:containers': { 'k:{"name":"api"}': { '.': {}, 'f:image': {} } } },
        },
      },
    };
    const managedFields = [{ manager: 'ton-operator', operation: 'Apply' as const, fieldsV1 }];
    const told = diff(
      sample('typical'),
      [after as DesiredObject],
      [{ ...live, metadata: { ...live.metadata, managedFields } }],
    );
    expect((told[0] as UpdateChange).fields).toContainEqual({
      path: 'spec.template.spec.priorityClassName',
      before: 'set by us',
      after: undefined,
    });
    expect((told[0] as UpdateChange).fields.map(({ path }) => path)).not.toContain(
      'spec.template.spec.containers[api].image',
    );
    expect(told[0]).toMatchObject({ restart: { restart: true } });
  });

  it('shows nothing of a Secret', () => {
    const before = build(sample('typical'), references({ keyring: [row('a')] }), release);
    const after = build(sample('typical'), references({ keyring: [row('a'), row('b')] }), release);
    const [change] = diff(sample('typical'), after, before.map(applied)) as [UpdateChange];
    expect(change.live.kind).toBe('Secret');
    expect(change.fields).toContainEqual({ path: 'data[keyring.json.gz]', before: '(secret)', after: '(secret)' });
  });
});

describe('an object of the name of a child', () => {
  const [desired] = deploymentOf({});
  const live = applied(desired as DesiredObject);
  const other = { apiVersion: 'apps/v1', kind: 'Widget', name: 'w', uid: 'other', controller: true };
  it.each<[string, Partial<KubernetesObject['metadata']>, string]>([
    ['that nobody controls is left alone', { ownerReferences: [] }, 'refuse'],
    [
      'that nobody controls is taken over when a person allowed it',
      { ownerReferences: [], annotations: { 'tonplane.dev/adopt': 'true' } },
      'update',
    ],
    [
      'that nobody controls is left alone when a person refused it',
      { ownerReferences: [], annotations: { 'tonplane.dev/adopt': 'false' } },
      'refuse',
    ],
    [
      'that another controls is left alone, even when annotated',
      { ownerReferences: [other], annotations: { 'tonplane.dev/adopt': 'true' } },
      'refuse',
    ],
    [
      'of a TonApi of the same name that is gone is left alone',
      { ownerReferences: [{ ...other, kind: 'TonApi', name: 'mainnet', uid: 'older' }] },
      'refuse',
    ],
  ])('%s', (_case, metadata, action) => {
    const changes = diff(
      sample('typical'),
      [desired as DesiredObject],
      [{ ...live, metadata: { ...live.metadata, ...metadata } }],
    );
    expect(changes).toMatchObject([action === 'update' ? { action, adopt: true } : { action }]);
  });
});

describe('handing replicas over', () => {
  const autoscaling = {
    provider: 'HPA',
    minReplicas: 2,
    maxReplicas: 9,
    targetCPUUtilization: 70,
    scaleDownStabilization: '5m',
  } as const;
  const fixed = sample('smallest', { replicas: 5 });
  const scaled = sample('smallest', { replicas: 5, autoscaling });

  it('to an HPA keeps the live number, once', () => {
    const live = build(fixed, references(), release)
      .map(applied)
      .map((object) => (isApi(object) ? { ...object, spec: { ...object.spec, replicas: 7 } } : object));
    const desired = build(scaled, references(), release);
    const [change] = diff(scaled, desired, live).filter(
      (each): each is UpdateChange => each.action === 'update' && isApi(each.live),
    );
    expect(change?.handover).toBe(7);
    const after = desired
      .map(applied)
      .map((object) => (isApi(object) ? { ...object, spec: { ...object.spec, replicas: 7 } } : object));
    expect(diff(scaled, desired, after)).toEqual([]);
  });

  it('back deletes the HPA before replicas are set', () => {
    const live = build(scaled, references(), release).map(applied);
    const changes = diff(fixed, build(fixed, references(), release), live);
    expect(changes[0]).toMatchObject({ action: 'delete', live: { kind: 'HorizontalPodAutoscaler' } });
    expect(changes.slice(1).some((change) => change.action === 'update' && isApi(change.live))).toBe(true);
  });
});

describe('what is not wanted any more', () => {
  it('is deleted last when it is ours, and never when it is not', () => {
    const live = build(sample('full'), everything, withSchema).map(applied);
    const stranger = {
      ...live[0],
      metadata: { ...live[0]?.metadata, name: 'other', ownerReferences: [] },
    } as KubernetesObject;
    const full = sample('full');
    const { exposure: _exposure, indexer: _indexer, ...spec } = full.spec;
    const less = { ...full, spec };
    const changes = diff(less, build(less, everything, withSchema), [...live, stranger]);
    const deleted = changes
      .filter(({ action }) => action === 'delete')
      .map((change) => ('live' in change ? nameOf(change.live) : ''));
    expect(deleted.toSorted()).toEqual([
      'HTTPRoute/private-api',
      'PodDisruptionBudget/private-indexer',
      'Service/private-indexer',
      'StatefulSet/private-indexer',
    ]);
    expect(changes.findLastIndex(({ action }) => action !== 'delete')).toBeLessThan(
      changes.findIndex(({ action }) => action === 'delete'),
    );
  });

  it('but a finished Job, which goes by itself, and a plan that is asked for', () => {
    const tonApi = annotated(sample('full'), { 'tonplane.dev/plan': 'true' });
    const live = build(tonApi, everything, withSchema).map(applied);
    const config = live.find(({ kind }) => kind === 'ConfigMap') as KubernetesObject;
    const plan = { ...config, metadata: { ...config.metadata, name: 'private-plan' } };
    expect(
      diff(tonApi, build(tonApi, { ...everything, migrated: { schema: 2, key: migrationKey(tonApi) } }, withSchema), [
        ...live,
        plan,
      ]).filter(({ action }) => action === 'delete'),
    ).toEqual([]);
    expect(diff(sample('full'), build(sample('full'), everything, withSchema), [...live, plan])).toMatchObject([
      { action: 'delete', live: { metadata: { name: 'private-plan' } } },
    ]);
  });
});

function deploymentOf(changes: Parameters<typeof sample>[1]): DesiredObject[] {
  return build(sample('typical', changes), references(), release).filter(({ object }) => object.kind === 'Deployment');
}

function isApi({ kind, metadata }: KubernetesObject): boolean {
  return kind === 'Deployment' && metadata.name.endsWith('-api');
}

function row(id: string) {
  return { id: id.repeat(12), sha256: id.repeat(64), plan: 'pro' };
}

/** The object as the server gives it back: its own metadata, and defaults beside our fields. */
function applied({ object }: DesiredObject): KubernetesObject {
  const metadata = {
    ...object.metadata,
    uid: 'u',
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '2026-11-21T00:00:00Z',
  };
  return JSON.parse(
    JSON.stringify({ ...object, metadata, spec: object.spec && { ...object.spec, defaulted: true }, status: {} }),
  ) as KubernetesObject;
}

function withSidecar(spec: unknown): Record<string, unknown> {
  const copy = structuredClone(spec) as { template: { spec: { containers: object[] } } };
  copy.template.spec.containers.unshift({ name: 'mesh', image: 'mesh:1' });
  return copy;
}

/** Steps to every leaf, but to what tells objects apart and who owns them. */
function leaves(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (
    path
      .join('.')
      .match(
        /^(apiVersion|kind|metadata\.(name|namespace|ownerReferences)|metadata\.annotations\.tonplane\.dev\/applied-hash)/,
      )
  )
    return [];
  if (typeof value !== 'object' || value === null) return [[...path]];
  return Object.entries(value).flatMap(([name, field]) =>
    leaves(field, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function edited(object: KubernetesObject, path: readonly (string | number)[]): KubernetesObject {
  const copy = structuredClone(object) as unknown as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  const parent = path.slice(0, -1).reduce((at, step) => at[step] as Record<string | number, unknown>, copy);
  const value = parent[last];
  parent[last] = typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : `${String(value)}x`;
  return copy as unknown as KubernetesObject;
}

describe('leafPaths', () => {
  it('names every leaf once, as changes name it', () => {
    const paths = leafPaths(deploymentOf({})[0]?.object);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain('spec.template.spec.containers[api].ports[8081/TCP].name');
  });
});
