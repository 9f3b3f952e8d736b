import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { nameOf } from '#operator/diff/diff.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from './samples.ts';

type Spec = TonApi['spec'];
type Template = NonNullable<Spec['podTemplate']>;
type Container = { readonly name: string; readonly [field: string]: unknown };
type Pod = {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
  readonly [field: string]: unknown;
};

const embedded: Partial<Spec> = { rateLimits: { redis: { embedded: true }, onRedisFailure: 'Local' } };

/** Templates of all pods by the part after the TonApi's name, `migrate` for the Job. */
function templates(podTemplate: Template | undefined) {
  const changes = { ...embedded, podTemplate } as Partial<Spec>;
  const objects = build(sample('full', changes), references(), { ...release, schemaVersion: 7 });
  return new Map(
    objects.flatMap(({ object }) => {
      const template = object.spec?.['template'] as { spec: Pod; metadata: Record<string, Record<string, string>> };
      const [, part = ''] = /^\w+\/private-([a-z]+)/.exec(nameOf(object)) ?? [];
      return template === undefined ? [] : [[part, template] as const];
    }),
  );
}

function pods(spec: object): ReadonlyMap<string, Pod> {
  return new Map([...templates({ spec } as Template)].map(([part, template]) => [part, template.spec]));
}

const parts = ['api', 'indexer', 'metadata', 'migrate', 'redis'];
const own = new Map([...pods({})].map(([part, pod]) => [part, pod.containers[0] as Container]));

describe('the pod template of the author', () => {
  it('changes nothing where it is empty', () => {
    expect(pods({})).toEqual(new Map([...templates(undefined)].map(([part, template]) => [part, template.spec])));
    expect([...pods({}).keys()].toSorted()).toEqual(parts);
  });

  it('adds fields of a pod to every pod, the embedded Redis too', () => {
    const dns = { dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.53'] }, runtimeClassName: 'gvisor' };
    for (const pod of pods(dns).values()) expect(pod).toMatchObject(dns);
  });

  it.each(['api', 'indexer', 'metadata', 'migration'])('adds to container %s and to no other', (name) => {
    const given = {
      name,
      env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      envFrom: [{ secretRef: { name: 'more' } }],
      volumeMounts: [{ name: 'extra', mountPath: '/extra' }],
      lifecycle: { postStart: { sleep: { seconds: 1 } } },
    };
    const part = name === 'migration' ? 'migrate' : name;
    const found = new Map([...pods({ containers: [given] })].map(([key, { containers }]) => [key, containers]));
    const [container] = found.get(part) ?? [];
    const before = own.get(part);
    expect(new Map([...found].filter(([key]) => key !== part))).toEqual(
      new Map([...own].filter(([key]) => key !== part).map(([key, one]) => [key, [one]])),
    );
    expect(container?.['env']).toEqual([...listOf(before?.['env']), ...given.env]);
    expect(container?.['volumeMounts']).toEqual([...listOf(before?.['volumeMounts']), ...given.volumeMounts]);
    expect(container).toMatchObject({ envFrom: given.envFrom, image: before?.['image'], args: before?.['args'] });
    expect(container?.['lifecycle']).toMatchObject(given.lifecycle);
    expect(container?.['lifecycle']).toMatchObject(before?.['lifecycle'] ?? {});
  });

  it('runs sidecars beside the pods that stay, and init containers in the migration too', () => {
    const found = pods({
      containers: [{ name: 'logs', image: 'logs:1', ports: [{ containerPort: 2020 }] }],
      initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' }],
    });
    const names = (part: string): string[] => found.get(part)?.containers.map(({ name }) => name) ?? [];
    expect(parts.map(names)).toEqual([
      ['api', 'logs'],
      ['indexer', 'logs'],
      ['metadata', 'logs'],
      ['migration'],
      ['redis'],
    ]);
    expect(parts.map((part) => found.get(part)?.initContainers?.map(({ name }) => name))).toEqual([
      ['proxy'],
      ['proxy'],
      ['proxy'],
      ['proxy'],
      undefined,
    ]);
    expect(found.get('api')?.containers[1]?.['ports']).toEqual([{ containerPort: 2020, protocol: 'TCP' }]);
  });

  it('leaves the operator its values, and the author the times of probes and the spread', () => {
    const topologySpreadConstraints = [
      { maxSkew: 2, topologyKey: 'example.com/rack', whenUnsatisfiable: 'DoNotSchedule' },
    ];
    const api = pods({
      containers: [
        { name: 'api', image: 'other', livenessProbe: { failureThreshold: 9, httpGet: { path: '/x', port: 1 } } },
      ],
      volumes: [{ name: 'config', emptyDir: {} }],
      securityContext: { runAsNonRoot: false, supplementalGroups: [7] },
      topologySpreadConstraints,
    }).get('api');
    const [container] = api?.containers ?? [];
    expect(container?.['image']).toBe(own.get('api')?.['image']);
    expect(container?.['livenessProbe']).toEqual({
      ...(own.get('api')?.['livenessProbe'] as object),
      failureThreshold: 9,
    });
    expect(api?.['securityContext']).toMatchObject({ runAsNonRoot: true, supplementalGroups: [7] });
    expect(api?.['topologySpreadConstraints']).toEqual(topologySpreadConstraints);
    expect(api?.volumes?.find(({ name }) => name === 'config')).toMatchObject({
      configMap: { name: 'private-config' },
    });
  });

  it('has short forms, which win over the same field of metadata and spec', () => {
    const podTemplate = {
      nodeSelector: { disk: 'short' },
      labels: { team: 'short', short: 'x' },
      annotations: { note: 'short' },
      metadata: { labels: { team: 'long', long: 'x' }, annotations: { note: 'long' } },
      tolerations: [{ key: 'short', operator: 'Exists' }],
      spec: {
        nodeSelector: { disk: 'long', zone: 'a' },
        tolerations: [{ key: 'long', operator: 'Exists' }],
        priorityClassName: 'high',
      },
    } as Template;
    const found = templates(podTemplate);
    for (const { spec } of found.values()) {
      expect(spec).toMatchObject({
        nodeSelector: { disk: 'short', zone: 'a' },
        tolerations: [{ key: 'short', operator: 'Exists' }],
        priorityClassName: 'high',
      });
    }
    for (const { metadata } of [...found].filter(([part]) => part !== 'migrate').map(([, template]) => template)) {
      expect(metadata['labels']).toMatchObject({ team: 'short', short: 'x', long: 'x' });
      expect(metadata['annotations']).toMatchObject({ note: 'short' });
    }
  });
});

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
