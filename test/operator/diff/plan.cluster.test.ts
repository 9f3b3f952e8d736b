import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { DesiredObject } from '#operator/desired/references.ts';
import { diff, nameOf, type Change } from '#operator/diff/diff.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { objectPath, resourceOf } from '#operator/kubernetes/resources.ts';
import type { TonApi } from '#operator/resource.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';
import { countOf } from '#test/support/volume.ts';

type Spec = TonApi['spec'];

/** Edits whose plan must equal the writes (operator/README.md#targets). */
const edits = countOf({ quick: 30, full: 100 });

const namespace = 'edited';

const autoscaling = { minReplicas: 2, maxReplicas: 9, targetCPUUtilization: 70, scaleDownStabilization: '5m' } as const;
const observed = { sloAvailability: '99.9', sloLatency: '1s', logLevel: 'info' } as const;

/** Some fields of a spec, each with some values; what is not drawn stays as it was. */
const fieldsSet = fc.record<Partial<Spec>>(
  {
    replicas: fc.integer({ min: 0, max: 5 }),
    requestTimeout: fc.constantFrom('5s', '10s', '1m'),
    trustedProxies: fc.nat({ max: 3 }),
    networkPolicy: fc.boolean(),
    surfaces: fc.constantFrom(['v2'], ['v2', 'jsonrpc']),
    image: fc.record({ tag: fc.constantFrom('1', '2'), pullPolicy: fc.constantFrom('Always', 'IfNotPresent') }),
    resources: fc.record({
      requests: fc.record({ memory: fc.constantFrom('256Mi', '1Gi', '0.5Gi'), cpu: fc.constantFrom('1', '250m', 2) }),
    }),
    plans: fc
      .integer({ min: 1, max: 9 })
      .map((requestsPerSecond) => [{ name: 'free', requestsPerSecond, archive: false }]),
    rateLimits: fc.boolean().map((embedded) => ({
      redis: embedded ? { embedded } : { secretRef: { name: 'redis', key: 'url' }, embedded },
      onRedisFailure: 'Local' as const,
    })),
    autoscaling: fc.constantFrom(
      { ...autoscaling, provider: 'HPA' } as const,
      { ...autoscaling, provider: 'KEDA' } as const,
    ),
    exposure: fc.constantFrom(
      { kind: 'Ingress', hosts: ['a.example.com'] } as const,
      { kind: 'HTTPRoute', hosts: ['a.example.com'], parentRefs: [{ name: 'public' }] } as const,
    ),
    podTemplate: fc.record({
      labels: fc.constantFrom({ team: 'a' }, { cost: 'b' }),
      nodeSelector: fc.constantFrom({}, { disk: 'fast' }),
    }),
    observability: fc
      .record({ serviceMonitor: fc.boolean(), prometheusRule: fc.boolean() })
      .map((made) => ({ ...observed, ...made })),
  },
  { requiredKeys: [] },
);

const edit = fc.record({
  set: fieldsSet,
  taken: fc.subarray(['autoscaling', 'exposure', 'image', 'resources', 'podTemplate', 'observability'], {
    maxLength: 3,
  }),
});

const missing =
  withoutOptionalApis('plans of random edits') || (await withoutControlPlane('plans of random edits', 'ours'));

describe.skipIf(missing)('a plan', () => {
  let client: ClusterClient;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  });
  afterAll(async () => {
    await client?.close();
  });

  /** What the operator does with a change. */
  async function carryOut(change: Change, live: Map<string, KubernetesObject>): Promise<void> {
    if (change.action === 'refuse') throw new Error(change.message);
    const object = change.action === 'delete' ? change.live : change.desired.object;
    const path = objectPath(resourceOf(object), object.metadata);
    if (change.action === 'delete') {
      await client.delete(path);
      live.delete(nameOf(object));
      return;
    }
    if (change.action === 'update' && change.handover !== undefined) {
      const { apiVersion, kind, metadata } = object;
      const part = {
        apiVersion,
        kind,
        metadata: { name: metadata.name, namespace },
        spec: { replicas: change.handover },
      };
      await client.apply(path, part, 'ton-operator-handover');
    }
    live.set(nameOf(object), (await client.apply(path, object, 'ton-operator')) as KubernetesObject);
  }

  it('of any edit names exactly what is then written, and afterwards there is nothing left to do', async () => {
    const specs = fc.sample(edit, { seed: 2026, numRuns: edits });
    const live = new Map<string, KubernetesObject>();
    let [before, written, deleted, restarts] = [sample('smallest').spec, 0, 0, 0];
    for (const { set, taken } of specs) {
      const kept = Object.entries(before).filter(([name]) => !taken.includes(name));
      const { metadata, ...smallest } = sample('smallest');
      const edited = { ...(Object.fromEntries(kept) as Spec), ...set };
      const tonApi: TonApi = { ...smallest, metadata: { ...metadata, namespace }, spec: edited };
      const desired = build(tonApi, references(), release);
      const changes = diff(tonApi, desired, [...live.values()]);
      const versions = versionsOf(live);
      for (const each of changes) await carryOut(each, live);
      expect(diff(tonApi, desired, [...live.values()])).toEqual([]);
      expect(changedBetween(versions, versionsOf(live))).toEqual(changes.map(nameOfChange).toSorted());
      expect([...live.keys()].toSorted()).toEqual(
        desired.map(({ object }: DesiredObject) => nameOf(object)).toSorted(),
      );
      written += changes.length;
      deleted += changes.filter(({ action }) => action === 'delete').length;
      restarts += changes.filter((each) => each.action !== 'refuse' && each.restart.restart).length;
      before = tonApi.spec;
    }
    expect(written).toBeGreaterThan(edits);
    expect(deleted).toBeGreaterThan(0);
    expect(restarts).toBeGreaterThan(0);
    expect(restarts).toBeLessThan(written);
  });
});

function versionsOf(live: ReadonlyMap<string, KubernetesObject>): Map<string, string | undefined> {
  return new Map([...live].map(([name, { metadata }]) => [name, `${metadata.uid} ${metadata.resourceVersion}`]));
}

function changedBetween(
  before: ReadonlyMap<string, string | undefined>,
  after: ReadonlyMap<string, string | undefined>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .toSorted();
}

function nameOfChange(change: Change): string {
  return nameOf(change.action === 'delete' ? change.live : change.desired.object);
}
