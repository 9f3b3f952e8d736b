import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { diff, nameOf } from '#operator/diff/diff.ts';
import { withIgnored } from '#operator/diff/ignored.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

type Ignored = NonNullable<TonApi['spec']['ignoreDifferences']>;
type Deployment = {
  minReadySeconds?: number;
  template: { spec: { containers: Record<string, unknown>[] } };
};

const rollout = { strategy: 'Rolling', drainSeconds: 20 } as const;
const resources = 'spec.template.spec.containers[api].resources';

/** Changes that the operator would make after others changed the Deployment of the API. */
function changesAfter(
  edit: (spec: Deployment) => void,
  ignoreDifferences: Ignored,
  changes: Partial<TonApi['spec']> = {},
) {
  const before = sample('typical', { ignoreDifferences, rollout });
  const live = build(before, references(), release).map(({ object }) => structuredClone(object));
  const api = live.find((object) => nameOf(object) === 'Deployment/mainnet-api');
  edit(api?.spec as unknown as Deployment);
  const next = sample('typical', { ignoreDifferences, rollout, ...changes });
  return diff(next, withIgnored(next, build(next, references(), release), live), live);
}

const moreMemory = ({ template }: Deployment): void => {
  Object.assign(template.spec.containers[0] ?? {}, { resources: { requests: { cpu: '3', memory: '3Gi' } } });
};

describe('a difference that is to be ignored', () => {
  it.each<[string, Ignored]>([
    ['of all objects of a kind', [{ kind: 'Deployment', fields: [resources] }]],
    ['of an object by its name', [{ kind: 'Deployment', name: 'mainnet-api', fields: [resources] }]],
    ['below a path', [{ kind: 'Deployment', fields: ['spec.template.spec.containers[api]'] }]],
  ])('causes no change: %s', (_case, ignored) => {
    expect(changesAfter(moreMemory, ignored)).toEqual([]);
  });

  it.each<[string, Ignored]>([
    ['another kind', [{ kind: 'StatefulSet', fields: [resources] }]],
    ['another name', [{ kind: 'Deployment', name: 'other-api', fields: [resources] }]],
    ['another field', [{ kind: 'Deployment', fields: ['spec.template.spec.containers[api].resource'] }]],
  ])('is named exactly: %s is undone', (_case, ignored) => {
    expect(changesAfter(moreMemory, ignored)).toMatchObject([{ action: 'update', cause: 'drift' }]);
  });

  it('may be a field that others removed', () => {
    const ignored: Ignored = [{ kind: 'Deployment', fields: ['spec.minReadySeconds'] }];
    expect(changesAfter((spec) => delete spec.minReadySeconds, ignored)).toEqual([]);
  });

  it('stays as it is when another field of the object changes', () => {
    const ignored: Ignored = [{ kind: 'Deployment', fields: [resources] }];
    const [change, ...others] = changesAfter(moreMemory, ignored, {
      rollout: { ...rollout, maxSurge: 2 },
    });
    expect(others).toEqual([]);
    expect(change).toMatchObject({ action: 'update', cause: 'edit' });
    const fields = change?.action === 'update' ? change.fields.map(({ path }) => path) : [];
    expect(fields).toEqual(['spec.strategy.rollingUpdate.maxSurge']);
    const applied = change?.action === 'update' ? (change.desired.object.spec as unknown as Deployment) : undefined;
    expect(applied?.template.spec.containers[0]).toMatchObject({ resources: { requests: { cpu: '3' } } });
  });
});
