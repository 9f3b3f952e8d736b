import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { configText } from '#operator/desired/config-map.ts';
import { coldHash } from '#operator/desired/deployment.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { diff, nameOf, type UpdateChange } from '#operator/diff/diff.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi } from '#operator/resource.ts';
import { admitted, migrationState } from '#operator/rollout/migration.ts';
import { references, release, sample } from './samples.ts';

type Spec = TonApi['spec'];

const withSchema = { ...release, schemaVersion: 7, blackboxExporter: { address: 'blackbox:9115', module: 'http_2xx' } };
const embedded: Partial<Spec> = { rateLimits: { redis: { embedded: true }, onRedisFailure: 'Local' } };
const known = references({ migrated: { schema: 7, key: migrationKey(sample('full')) } });

function built(tonApi: TonApi, of = known): KubernetesObject[] {
  return build(tonApi, of, withSchema).map(({ object }) => object);
}

function hibernating({ spec, ...rest }: TonApi): TonApi {
  return { ...rest, spec: { ...spec, hibernate: true } };
}

describe('a TonApi that hibernates', () => {
  it.each<[string, TonApi]>([
    ['with every part', sample('full', embedded)],
    ['with an autoscaler of Kubernetes', sample('typical')],
    ['with few fields', sample('smallest')],
  ])('has no pod, no autoscaler and no budget, and every other object: %s', (_case, tonApi) => {
    const [awake, asleep] = [built(tonApi), built(hibernating(tonApi))];
    const gone = ['HorizontalPodAutoscaler', 'ScaledObject', 'PodDisruptionBudget', 'Probe'];
    expect(asleep.map(nameOf)).toEqual(awake.filter(({ kind }) => !gone.includes(kind)).map(nameOf));
    const workloads = asleep.filter(({ spec }) => spec?.['template'] !== undefined);
    expect(workloads.length).toBeGreaterThan(0);
    expect(workloads.map(({ spec }) => spec?.['replicas'])).toEqual(workloads.map(() => 0));
  });

  it('has the templates and the configuration of its pods unchanged, so that nothing restarts for it', () => {
    const tonApi = sample('full');
    expect(templates(hibernating(tonApi))).toEqual(templates(tonApi));
    expect(coldHash(hibernating(tonApi), known)).toBe(coldHash(tonApi, known));
    expect(configText(hibernating(tonApi), undefined)).toBe(configText(tonApi, undefined));
  });

  it('raises no alert on missing pods', () => {
    const observability = { ...sample('typical').spec.observability, serviceMonitor: true, prometheusRule: true };
    const tonApi = sample('typical', { observability } as Partial<Spec>);
    expect(rules(tonApi)).toContain('TonApiUnreachable');
    expect(rules(hibernating(tonApi))).not.toContain('TonApiUnreachable');
  });

  it('starts no migration, and gets its template without pods all the same', () => {
    const tonApi = sample('full');
    const next = hibernating(sample('full', { image: { tag: '9', pullPolicy: 'Always' } }));
    const desired = build(next, known, withSchema);
    expect(desired.filter(({ object }) => object.kind === 'Job')).toEqual([]);
    const state = migrationState(next, 7, []);
    expect(state.state).toBe('suspended');
    const changes = admitted(diff(next, desired, built(tonApi)), state);
    const written = changes.flatMap((change) => (change.action === 'update' ? [nameOf(change.live)] : []));
    expect(written).toEqual(expect.arrayContaining(['Deployment/private-api', 'StatefulSet/private-indexer']));
  });

  it('waits with its pods for the schema when it wakes', () => {
    const next = sample('full', { image: { tag: '9', pullPolicy: 'Always' } });
    const live = built(hibernating(next));
    const changes = diff(next, build(next, known, withSchema), live);
    const pods = (state: 'running' | 'current'): string[] =>
      admitted(changes, state === 'running' ? { state, message: 'x' } : { state }).flatMap((change) =>
        change.action === 'update' && change.live.spec?.['template'] !== undefined ? [nameOf(change.live)] : [],
      );
    expect(pods('running')).toEqual([]);
    expect(pods('current')).toEqual(expect.arrayContaining(['Deployment/private-api', 'StatefulSet/private-indexer']));
    expect(changes.some((change) => change.action === 'create' && change.desired.object.kind === 'Job')).toBe(true);
  });

  it.each(['hibernation', 'replicas: 0'])('gives the autoscaler its fewest pods after %s', (before) => {
    const tonApi = sample('typical');
    const { autoscaling: _, ...fixed } = tonApi.spec;
    const earlier = before === 'hibernation' ? hibernating(tonApi) : { ...tonApi, spec: { ...fixed, replicas: 0 } };
    const changes = diff(tonApi, build(tonApi, known, withSchema), built(earlier));
    const api = changes.find(
      (change) => change.action === 'update' && nameOf(change.live) === 'Deployment/mainnet-api',
    );
    expect((api as UpdateChange).handover).toBe(2);
    expect(changes.some((change) => change.action === 'create' && change.desired.object.kind.endsWith('caler'))).toBe(
      true,
    );
  });
});

function templates(tonApi: TonApi): unknown[] {
  return built(tonApi).flatMap(({ spec }) => spec?.['template'] ?? []);
}

function rules(tonApi: TonApi): string {
  return JSON.stringify(built(tonApi).find(({ kind }) => kind === 'PrometheusRule'));
}
