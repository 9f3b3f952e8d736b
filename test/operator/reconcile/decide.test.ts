import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { childAnnotations, childNames } from '#operator/desired/names.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createCanaryWatch } from '#operator/reconcile/canary-watch.ts';
import { decide } from '#operator/reconcile/decide.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

const rollout = { strategy: 'Canary' as const, steps: [{ weight: 10, hold: '10s' }], drainSeconds: 1 };
const before = sample('typical', { rollout });
const next = sample('typical', { rollout, requestTimeout: '7s' });
const names = childNames(before);
const known = references({ migrated: { schema: 1, key: migrationKey(before) } });
const live = build(before, known, release).map(({ object }) => object);

const stable = live.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === names.api);

/** A canary of a template that was given up. */
function givenUp(hash: string): KubernetesObject {
  const state = JSON.stringify({ hash, step: 0, since: '2026-11-21T12:00:00Z', rolledBack: 'too many failures' });
  const api = stable as KubernetesObject;
  return {
    ...api,
    metadata: { ...api.metadata, name: names.canary, annotations: { [childAnnotations.canary]: state } },
  };
}

type Choice = Partial<Pick<Parameters<typeof decide>[2], 'release' | 'upgradePolicy' | 'rollouts'>>;

async function decided(tonApi: TonApi, children: readonly KubernetesObject[], choice: Choice = {}) {
  const canaries = createCanaryWatch({ port: 1 }, { fetchPage: async () => '', clock: createVirtualClock() });
  const { rollout: _, ...facts } = known;
  const seen = {
    references: facts,
    problems: [],
    missing: new Set<string>(),
    isConfigUnfit: false,
    children,
    pods: [],
    reports: new Map(),
    requeueAfterMs: undefined,
  };
  const rollouts = { ask: () => ({ granted: true }) as const };
  const dependencies = { release, upgradePolicy: 'Rolling', rollouts, canaries, ...choice } as const;
  const decision = await decide(tonApi, seen, dependencies, new AbortController().signal);
  const deployments = decision.desired.map(({ object }) => object).filter(({ kind }) => kind === 'Deployment');
  const find = (name: string) => deployments.find(({ metadata }) => metadata.name === name);
  return { rollout: decision.rollout, api: find(names.api), canary: find(names.canary) };
}

describe('a change that goes by a canary', () => {
  it('begins after hibernation: the stable template stays, without pods and without a canary', async () => {
    const asleep = await decided({ ...next, spec: { ...next.spec, hibernate: true } }, live);
    expect(asleep.rollout.phase).toBe('hibernated');
    expect(asleep.canary).toBe(undefined);
    expect(asleep.api?.spec).toMatchObject({ replicas: 0, template: stable?.spec?.['template'] });
    const awake = await decided(next, live);
    expect(awake.rollout.phase).toBe('canary');
    expect(awake.canary).toBeDefined();
  });

  it('stays given up through hibernation', async () => {
    const asleep = { ...next, spec: { ...next.spec, hibernate: true } };
    const { hash } = (await decided(asleep, live)).rollout;
    const again = await decided(asleep, [...live, givenUp(hash)]);
    expect(again.rollout.phase).toBe('rolledBack');
    expect(again.canary?.spec?.['replicas']).toBe(0);
  });
});

describe('a stored value that cannot be read', () => {
  it('counts as its default, so that everything else is built', async () => {
    const tracing = { endpoint: 'http://collector:99999', sampleRatio: '1' };
    const observability = { ...before.spec.observability!, tracing };
    const given = { ...before, spec: { ...before.spec, requestTimeout: '1 minute', observability } };
    const { rollout: view, api } = await decided(given, []);
    expect(view.phase).toBe('settled');
    expect(api?.spec).toMatchObject({ template: { spec: { terminationGracePeriodSeconds: 21 } } });
  });
});

describe('a change by a new operator alone', () => {
  const newer = { ...release, image: 'registry.example.com/tonplane/service:0.2.0' };
  const template = stable?.spec?.['template'];

  it('a new template goes by a canary when its turn has come', async () => {
    const { rollout: view, api, canary } = await decided(before, live, { release: newer });
    expect(view.phase).toBe('canary');
    expect(api?.spec?.['template']).toEqual(template);
    expect(JSON.stringify(canary?.spec)).toContain(newer.image);
  });

  it('a new template waits for its turn, and the live one stays', async () => {
    const rollouts = { ask: () => ({ granted: false, position: 2, waiting: 3 }) as const };
    const { rollout: view, api } = await decided(before, live, { release: newer, rollouts });
    expect(view).toMatchObject({ phase: 'waiting', position: 2, waiting: 3 });
    expect(api?.spec?.['template']).toEqual(template);
  });

  it('a new template waits for a change of the manifest where the policy is OnChange', async () => {
    const { rollout: view, api } = await decided(before, live, { release: newer, upgradePolicy: 'OnChange' });
    expect(view.phase).toBe('frozen');
    expect(api?.spec?.['template']).toEqual(template);
  });
});
