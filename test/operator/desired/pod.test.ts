import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { Release } from '#operator/desired/references.ts';
import { references, release, sample } from './samples.ts';

type PodTemplate = {
  readonly spec: { readonly securityContext: object; readonly imagePullSecrets?: readonly { readonly name: string }[] };
};

/** Pod specs of all workloads of a TonApi with an index, metadata and an embedded Redis. */
function podsOf(changes: Partial<Release>, image?: { readonly pullSecrets: readonly string[] }): PodTemplate['spec'][] {
  const full = sample('full');
  const tonApi = sample('full', {
    rateLimits: { ...full.spec.rateLimits, redis: { embedded: true } },
    image: image ?? {},
    podTemplate: {},
  } as never);
  const objects = build(tonApi, references(), { ...release, schemaVersion: 2, ...changes });
  return objects.flatMap(({ object }) => {
    const template = (object as { spec?: { template?: PodTemplate } }).spec?.template;
    return template === undefined ? [] : [template.spec];
  });
}

describe('pods of every workload', () => {
  it('run as one user that is not root', () => {
    const contexts = podsOf({}).map(({ securityContext }) => securityContext);
    expect(contexts.length).toBeGreaterThanOrEqual(3);
    for (const context of contexts) {
      expect(context).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 });
    }
  });

  it('name no user and no group where the platform assigns them, and stay at the restricted level', () => {
    for (const { securityContext } of podsOf({ platformIds: true })) {
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    }
  });

  it('have the registry credentials of the manifest and of the operator, each once', () => {
    const pods = podsOf({ pullSecrets: ['shared', 'own'] }, { pullSecrets: ['own'] });
    for (const { imagePullSecrets } of pods) expect(imagePullSecrets).toEqual([{ name: 'own' }, { name: 'shared' }]);
  });
});
