import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApiStatus } from '#operator/resource.ts';
import type { Observed } from '#operator/status/observed.ts';
import { summarize } from '#operator/status/summarize.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { validateStatus } from './status-schema.ts';
import { observed } from './observed-api.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');

describe('the status in hibernation', () => {
  it('is Ready with the reason Hibernated once no pod runs, and no condition about pods is true', () => {
    const status = summarize(sample('full', { hibernate: true }), observed(), noonMs);
    expect(shown(status)).toEqual({
      Ready: 'True/Hibernated',
      ReferencesResolved: 'True/Resolved',
      Migrated: 'True/SchemaCurrent',
      Available: 'False/Hibernated',
      ConfigApplied: 'False/Hibernated',
      IndexerLive: 'False/Hibernated',
      MetadataRunning: 'False/Hibernated',
      Progressing: 'False/RolledOut',
      Hibernated: 'True/Hibernated',
    });
    expect(status.indexer).toBe('Off');
    expect(validateStatus('TonApi', status)).toEqual([]);
  });

  it.each(['pods', 'metadataPods', 'otherPods'] as const)('waits for %s that still run', (where) => {
    const status = summarize(
      sample('full', { hibernate: true }),
      observed({ [where]: [pod('a'), pod('done', 'Succeeded')] }),
      noonMs,
    );
    expect(shown(status)).toMatchObject({
      Ready: 'False/PodsEnding',
      Hibernated: 'False/PodsEnding',
      Reconciling: 'True/PodsEnding',
    });
    expect(status.conditions?.[0]?.message).toBe('Hibernated: waits for pods to end: a, since 2026-11-21T12:00:00Z');
  });

  it('names an object that the API server refuses, and a reference that is missing', () => {
    const refusals = [{ reason: 'QuotaExceeded', message: 'exceeded quota' }] as const;
    const asleep = sample('smallest', { hibernate: true });
    expect(shown(summarize(asleep, observed({ refusals }), noonMs))).toMatchObject({ Ready: 'False/QuotaExceeded' });
    const problems = [{ reason: 'SecretNotFound', message: 'Secret redis is not there' }];
    expect(shown(summarize(asleep, observed({ problems }), noonMs))).toMatchObject({ Ready: 'False/SecretNotFound' });
  });

  it.each<[string, Partial<Observed>, Record<string, string>]>([
    ['a migration', { migration: { state: 'suspended', message: 'x' } }, { Migrated: 'False/Hibernated' }],
    ['a canary', { rollout: { hash: 'h', phase: 'hibernated' } }, { Progressing: 'False/Hibernated' }],
  ])('shows %s that begins after it, and stays Ready', (_case, changes, expected) => {
    const status = summarize(sample('full', { hibernate: true }), observed(changes), noonMs);
    expect(shown(status)).toMatchObject({ ...expected, Ready: 'True/Hibernated' });
  });

  it('has no condition of an autoscaler, and no trace of hibernation after its end', () => {
    const asleep = summarize(sample('typical', { hibernate: true }), observed(), noonMs);
    expect(shown(asleep)).not.toHaveProperty('ScalingActive');
    const awake = summarize({ ...sample('typical'), status: asleep }, observed(), noonMs);
    expect(shown(awake)).toMatchObject({ Available: 'False/NoReadyPods', ScalingActive: 'Unknown/AutoscalerPending' });
    expect(shown(awake)).not.toHaveProperty('Hibernated');
  });
});

function pod(name: string, phase = 'Running'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, uid: name }, status: { phase } };
}

function shown(status: TonApiStatus): Record<string, string> {
  return Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value}/${reason}`]),
  );
}
