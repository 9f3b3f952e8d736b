import { expect, it } from 'vitest';

import type { TonApiStatus } from '#operator/resource.ts';
import { summarize } from '#operator/status/summarize.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { observed } from './observed-api.ts';
import { validateStatus } from './status-schema.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const tonApi = sample('smallest', { replicas: 0 });

const seen = observed({ readyMin: 0 });

function shown({ conditions = [] }: TonApiStatus): Record<string, string> {
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

it('a TonApi with replicas 0 is as its author wants it, and says that nothing is served', () => {
  const status = summarize(tonApi, seen, noonMs);
  expect(shown(status)).toEqual({
    Ready: 'True/ZeroReplicas',
    ReferencesResolved: 'True/Resolved',
    Migrated: 'True/SchemaCurrent',
    Available: 'False/ZeroReplicas',
    ConfigApplied: 'False/ZeroReplicas',
    IndexerLive: 'True/NotWanted',
    MetadataRunning: 'True/NotWanted',
    Progressing: 'False/RolledOut',
  });
  expect(status.conditions?.[0]?.message).toBe('replicas is 0: no pod of the API runs, and nothing is served');
  expect(validateStatus('TonApi', status)).toEqual([]);
});

it('a TonApi with replicas 0 waits for everything else that is wanted', () => {
  const problems = [{ reason: 'SecretNotFound', message: 'Secret redis is not there' }];
  expect(shown(summarize(tonApi, { ...seen, problems }, noonMs))).toMatchObject({ Ready: 'False/SecretNotFound' });
  const rollout = { hash: 'h', phase: 'rolling' } as const;
  expect(shown(summarize(tonApi, { ...seen, rollout }, noonMs))).toMatchObject({ Ready: 'False/RollingOut' });
});

it('a TonApi in hibernation with replicas 0 hibernates', () => {
  const asleep = sample('smallest', { replicas: 0, hibernate: true });
  expect(shown(summarize(asleep, seen, noonMs))).toMatchObject({
    Ready: 'True/Hibernated',
    Available: 'False/Hibernated',
  });
});
