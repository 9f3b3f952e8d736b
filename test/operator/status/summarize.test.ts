import { describe, expect, it } from 'vitest';

import type { Condition, KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi, TonApiStatus } from '#operator/resource.ts';
import type { Observed } from '#operator/status/observed.ts';
import { summarize } from '#operator/status/summarize.ts';
import { validateStatus } from './status-schema.ts';
import { annotated, sample } from '#test/operator/desired/samples.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const hash = 'a'.repeat(64);

describe('the status of a TonApi', () => {
  it('says that all is well when it is', () => {
    const status = summarize(sample('smallest'), healthy(), noonMs);
    expect(status).toMatchObject({
      version: '0.1.0',
      configHash: hash,
      liteServers: '3/4',
      indexer: 'Off',
      readyReplicas: 2,
      keys: 5,
      url: 'http://testnet-api.ton.svc:8081',
    });
    expect(shown(status)).toEqual({
      Ready: 'True/Serving',
      ReferencesResolved: 'True/Resolved',
      Migrated: 'True/NotNeeded',
      Available: 'True/EnoughReadyPods',
      ConfigApplied: 'True/Applied',
      IndexerLive: 'True/NotWanted',
      MetadataRunning: 'True/NotWanted',
      Progressing: 'False/RolledOut',
    });
  });

  it.each<[string, Partial<Observed>, Record<string, string>, RegExp]>([
    [
      'a Secret that is not there',
      { problems: [{ reason: 'SecretNotFound', message: 'Secret redis is not there' }] },
      { ReferencesResolved: 'False/SecretNotFound', Ready: 'False/SecretNotFound' },
      /ReferencesResolved: Secret redis is not there, since 2026-11-21T12:00:00Z/,
    ],
    [
      'a migration that runs',
      { migration: { state: 'running', message: 'waits for the migration Job' } },
      { Migrated: 'False/MigrationRunning', Ready: 'False/MigrationRunning' },
      /waits for the migration Job, since/,
    ],
    [
      'a migration that failed',
      { migration: { state: 'failed', message: 'Job x failed' } },
      { Migrated: 'False/MigrationFailed', Ready: 'False/MigrationFailed' },
      /Job x failed; pods that run go on/,
    ],
    [
      'no ready pod',
      { pods: [pod('a', false)] },
      { Available: 'False/NoReadyPods', ConfigApplied: 'Unknown/NoReadyPods', Ready: 'False/NoReadyPods' },
      /no pod is ready, since/,
    ],
    [
      'an image that is not there',
      { pods: [pod('a', false, { reason: 'ImagePullBackOff', message: 'not found' })] },
      { Available: 'False/NoReadyPods' },
      /ImagePullBackOff: not found/,
    ],
    [
      'lite servers that nobody reaches',
      {
        pods: [pod('a', false)],
        says: new Map([['a', { version: '0.1.0', configHash: hash, liteServers: { usable: 0, total: 4 } }]]),
      },
      { Available: 'False/LiteServersUnreachable', Ready: 'False/LiteServersUnreachable' },
      /none of 4 lite servers can be used/,
    ],
    ['too few ready pods', { readyMin: 3 }, { Available: 'False/TooFewReadyPods' }, /fewer than 3 pods/],
    [
      'a pod with an older configuration',
      { hotHash: 'b'.repeat(64) },
      { ConfigApplied: 'False/Propagating', Ready: 'False/Propagating' },
      /waits for pods to take over the configuration: a, b, since/,
    ],
    [
      'a pod that does not answer',
      { says: new Map([['a', { version: '0.1.0', configHash: hash, liteServers: undefined }]]) },
      { ConfigApplied: 'False/Propagating' },
      /configuration: b/,
    ],
    [
      'a name that is taken',
      { refusals: [{ reason: 'NameTaken', message: 'Service x belongs to Widget w' }] },
      { Stalled: 'True/NameTaken', Ready: 'False/NameTaken' },
      /belongs to Widget w, since/,
    ],
  ])('names what is wrong with %s', (_case, changes, expected, message) => {
    const status = summarize(sample('smallest'), healthy(changes), noonMs);
    expect(shown(status)).toMatchObject(expected);
    expect(conditionOf(status, 'Ready')?.message).toMatch(message);
  });

  it.each<[string, Observed['rollout'], string, RegExp]>([
    [
      'a turn',
      { hash: 'h', phase: 'waiting', position: 3, waiting: 12 },
      'True/WaitingForRolloutSlot',
      /waits for a rollout slot, 3rd of 12, since 2026/,
    ],
    [
      'a person, when an upgrade is held',
      { hash: 'h', phase: 'frozen' },
      'False/UpgradeHeld',
      /until a cold field of the resource is edited.*, since/,
    ],
  ])(
    'reports in Progressing that another operator’s template waits for %s, and Ready stays',
    (_case, rollout, expected, message) => {
      const status = summarize(sample('smallest'), healthy({ rollout }), noonMs);
      expect(shown(status)).toMatchObject({ Progressing: expected, Ready: 'True/Serving' });
      expect(conditionOf(status, 'Progressing')?.message).toMatch(message);
      expect(standing(status)).toEqual({});
    },
  );

  it.each<[string, Observed['rollout'], string, RegExp, Record<string, string>]>([
    [
      'requests to a canary',
      { hash: 'h', phase: 'canary', step: 0, weight: 5, why: 'waits for 500 requests' },
      'True/CanaryHold',
      /step 1 with 5 % of the traffic: waits for 500 requests/,
      { Reconciling: 'True/CanaryHold' },
    ],
    [
      'a better template',
      { hash: 'h', phase: 'rolledBack', why: '30 of 500 requests failed' },
      'False/RolledBack',
      /given up: 30 of 500/,
      { Stalled: 'True/RolledBack' },
    ],
    [
      'new pods',
      { hash: 'h', phase: 'rolling' },
      'True/RollingOut',
      /starts new pods, since/,
      { Reconciling: 'True/RollingOut' },
    ],
    [
      'a Secret',
      { hash: 'h', phase: 'rolling', waits: 'Secret redis' },
      'True/RollingOut',
      /new pods wait for Secret redis, since/,
      { Reconciling: 'True/RollingOut' },
    ],
  ])('is not Ready while its newest template waits for %s', (_case, rollout, expected, message, stands) => {
    const status = summarize(sample('smallest'), healthy({ rollout }), noonMs);
    expect(shown(status)).toMatchObject({ Progressing: expected, Ready: expected.replace('True', 'False') });
    expect(conditionOf(status, 'Progressing')?.message).toMatch(message);
    expect(conditionOf(status, 'Ready')?.message).toMatch(message);
    expect(standing(status)).toEqual(stands);
  });

  it.each<[string, Partial<Observed>, RegExp]>([
    [
      'an image that cannot be pulled',
      { pods: [pod('a', true), pod('b', true), pod('c', false, { reason: 'ErrImagePull', message: 'no such tag' })] },
      /starts new pods; ErrImagePull: no such tag, since/,
    ],
    [
      'a container that ends again and again',
      { otherPods: [ending('i', { exitCode: 1, reason: 'Error', message: 'no\nroute' })] },
      /starts new pods; CrashLoopBackOff: exit code 1 \(Error\): no route, since/,
    ],
    [
      'a quota',
      {
        live: [
          deployment({
            conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }],
          }),
        ],
      },
      /starts new pods; ReplicaFailure: exceeded quota, since/,
    ],
  ])('names in Ready why new pods do not start: %s', (_case, changes, message) => {
    const rollout = { hash: 'h', phase: 'rolling' } as const;
    const status = summarize(sample('smallest'), healthy({ rollout, ...changes }), noonMs);
    expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False', message: expect.stringMatching(message) });
  });

  it('says the same of a container that loops, whether it waits, runs or has just ended', () => {
    const last = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
    const turns = [
      { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s' } }, lastState: last },
      { state: { running: {} }, lastState: last },
      { state: last },
    ];
    const messages = turns.map((container) => {
      const looping = pod('a', false);
      const pods = [{ ...looping, status: { ...looping.status, containerStatuses: [{ ready: false, ...container }] } }];
      return conditionOf(summarize(sample('smallest'), healthy({ pods }), noonMs), 'Ready')?.message;
    });
    expect(new Set(messages)).toEqual(
      new Set(['Available: no pod is ready; CrashLoopBackOff: exit code 137 (OOMKilled), since 2026-11-21T12:00:00Z']),
    );
  });

  it.each<[string, Partial<Observed>, Record<string, string>]>([
    ['nothing is wrong', {}, {}],
    [
      'a person must change a value',
      { refusals: [{ reason: 'InvalidValue', message: 'x' }] },
      { Stalled: 'True/InvalidValue' },
    ],
    [
      'a webhook is away',
      { refusals: [{ reason: 'WebhookUnavailable', message: 'x', retried: true }] },
      { Reconciling: 'True/WebhookUnavailable' },
    ],
    [
      'one refusal ends by itself and another does not',
      {
        refusals: [
          { reason: 'ServerError', message: 'x', retried: true },
          { reason: 'QuotaExceeded', message: 'y' },
        ],
      },
      { Stalled: 'True/QuotaExceeded' },
    ],
    [
      'a reference is missing',
      { problems: [{ reason: 'SecretNotFound', message: 'x' }] },
      { Reconciling: 'True/SecretNotFound' },
    ],
    ['a migration failed', { migration: { state: 'failed', message: 'x' } }, { Stalled: 'True/MigrationFailed' }],
    ['pods that were ready are lost', { pods: [] }, {}],
    [
      'the first pods start',
      { pods: [], rollout: { hash: 'h', phase: 'rolling' } },
      { Reconciling: 'True/NoReadyPods' },
    ],
    ['a pause holds a change back', { suspended: ['Deployment a'] }, { Reconciling: 'True/ChangesSuspended' }],
  ])('stands for kstatus as it should when %s', (_case, changes, expected) => {
    const status = summarize(sample('smallest'), healthy(changes), noonMs);
    expect(standing(status)).toEqual(expected);
    const isWell = Object.keys(changes).length === 0;
    expect(conditionOf(status, 'Ready')?.status).toBe(isWell ? 'True' : 'False');
    expect(validateStatus('TonApi', status)).toEqual([]);
  });

  it('tells why new pods do not become ready, while the old ones serve', () => {
    const stuck = deployment({
      conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
    });
    const pods = [pod('a', true), pod('b', true), pod('c', false, { reason: 'ErrImagePull', message: 'no such tag' })];
    const status = summarize(
      sample('smallest'),
      healthy({ live: [stuck], pods, rollout: { hash: 'h', phase: 'rolling' } }),
      noonMs,
    );
    expect(shown(status)).toMatchObject({
      Progressing: 'False/ProgressDeadlineExceeded',
      Available: 'True/EnoughReadyPods',
    });
    expect(conditionOf(status, 'Progressing')?.message).toContain('ErrImagePull: no such tag');
  });

  it('shows the pause with its reason, and only while it lasts', () => {
    const paused = annotated(sample('smallest'), { 'tonplane.dev/paused': 'incident 7' });
    expect(conditionOf(summarize(paused, healthy(), noonMs), 'Paused')).toMatchObject({
      status: 'True',
      reason: 'PausedByAnnotation',
      message: 'incident 7',
    });
    expect(conditionOf(summarize(sample('smallest'), healthy(), noonMs), 'Paused')).toBeUndefined();
  });

  it('is the same however often it is made, so that nothing is written while nothing changes', () => {
    for (const observed of [
      healthy(),
      healthy({ pods: [pod('a', false)] }),
      healthy({ rollout: { hash: 'h', phase: 'waiting', position: 1, waiting: 1 } }),
    ]) {
      const first = summarize(sample('smallest'), observed, noonMs);
      const later = summarize({ ...sample('smallest'), status: first }, observed, noonMs + 3_600_000);
      expect(later).toEqual(first);
    }
  });

  it('moves the time of a condition with its status, and the time in its message with its reason', () => {
    const first = summarize(sample('smallest'), healthy({ pods: [pod('a', false)] }), noonMs);
    const second = summarize({ ...sample('smallest'), status: first }, healthy({ readyMin: 3 }), noonMs + 60_000);
    expect(conditionOf(second, 'Available')).toMatchObject({
      lastTransitionTime: '2026-11-21T12:00:00Z',
      message: expect.stringContaining('since 2026-11-21T12:01:00Z'),
    });
    const third = summarize({ ...sample('smallest'), status: second }, healthy(), noonMs + 120_000);
    expect(conditionOf(third, 'Available')).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-11-21T12:02:00Z',
    });
  });

  it('keeps the hash of the last template that was rolled out whole', () => {
    const first = summarize(sample('smallest'), healthy({ rollout: { hash: 'one', phase: 'settled' } }), noonMs);
    const tonApi = { ...sample('smallest'), status: first };
    expect(
      summarize(tonApi, healthy({ rollout: { hash: 'two', phase: 'canary', step: 1, weight: 50, why: '' } }), noonMs)
        .rollout,
    ).toEqual({ hash: 'two', stableHash: 'one', step: 1, weight: 50 });
    expect(summarize(tonApi, healthy({ rollout: { hash: 'two', phase: 'settled' } }), noonMs).rollout).toEqual({
      hash: 'two',
      stableHash: 'two',
    });
  });

  it.each<[TonApi['spec']['indexer'] | undefined, Partial<Observed>, string, string]>([
    [undefined, {}, 'Off', 'True/NotWanted'],
    [
      { mode: 'SingleWriter', partitions: 1 },
      { migration: { state: 'running', message: '' } },
      'Migrating',
      'False/Migrating',
    ],
    [{ mode: 'SingleWriter', partitions: 1 }, {}, 'Off', 'False/NotInRelease'],
    [{ mode: 'SingleWriter', partitions: 1 }, { migration: { state: 'current' } }, 'CatchingUp', 'False/CatchingUp'],
    [
      { mode: 'SingleWriter', partitions: 1 },
      { migration: { state: 'current' }, indexer: 'Live' },
      'Live',
      'True/Live',
    ],
    [
      { mode: 'SingleWriter', partitions: 1 },
      { migration: { state: 'current' }, indexer: 'Stalled' },
      'Stalled',
      'False/Stalled',
    ],
  ])('says where the index is: %o %o', (indexer, changes, expected, condition) => {
    const status = summarize(sample('smallest', indexer && { indexer }), healthy(changes), noonMs);
    expect(status.indexer).toBe(expected);
    expect(shown(status)).toMatchObject({ IndexerLive: condition });
  });

  const [current, missing] = [{ state: 'current' } as const, { reason: 'ErrImagePull', message: 'no such tag' }];
  it.each<[string, Partial<Observed>, string, RegExp]>([
    ['no database', {}, 'False/NotInRelease', /nowhere to put metadata, since/],
    ['a schema that is made', { migration: { state: 'running', message: '' } }, 'False/Migrating', /the schema, since/],
    ['no pod yet', { migration: current }, 'False/NoReadyPods', /^no pod fetches metadata, since/],
    [
      'an image that is not there',
      { migration: current, metadataPods: [pod('m', false, missing)] },
      'False/NoReadyPods',
      /no pod fetches metadata; ErrImagePull: no such tag, since/,
    ],
    ['a ready pod', { migration: current, metadataPods: [pod('a', true)] }, 'True/Running', /is fetched$/],
    [
      'new pods that never become ready',
      {
        migration: current,
        metadataPods: [pod('a', true), pod('m', false, missing)],
        live: [
          deployment(),
          {
            ...deployment({
              conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
            }),
            metadata: { name: 'testnet-metadata' },
          },
        ],
      },
      'False/ProgressDeadlineExceeded',
      /the new pods that fetch metadata do not become ready; ErrImagePull: no such tag/,
    ],
  ])('says whether metadata is fetched, with %s', (_case, changes, expected, message) => {
    const tonApi = sample('smallest', { tokenMetadata: { replicas: 1, concurrency: 16, concurrencyPerHost: 4 } });
    const status = summarize(tonApi, healthy(changes), noonMs);
    expect(shown(status)).toMatchObject({
      MetadataRunning: expected,
      Available: 'True/EnoughReadyPods',
      Progressing: 'False/RolledOut',
      ...(changes.migration?.state !== 'running' && { Ready: expected === 'True/Running' ? 'True/Serving' : expected }),
    });
    expect(conditionOf(status, 'MetadataRunning')?.message).toMatch(message);
  });

  it('waits for the pods of the metadata too, until they have the configuration', () => {
    const observed = healthy({ metadataPods: [pod('m', true)] });
    const status = summarize(sample('smallest'), observed, noonMs);
    expect(conditionOf(status, 'ConfigApplied')).toMatchObject({
      reason: 'Propagating',
      message: expect.stringContaining('configuration: m, since'),
    });
  });

  it('holds to the schema of the custom resource in every case', () => {
    const rollouts: Observed['rollout'][] = [
      { hash: 'h', phase: 'frozen' },
      { hash: 'h', phase: 'canary', step: 0, weight: 5, why: 'x' },
    ];
    for (const rollout of rollouts) {
      const observed = healthy({ rollout, refusals: [{ reason: 'NameTaken', message: 'x' }], pods: [] });
      expect(
        validateStatus(
          'TonApi',
          summarize(annotated(sample('full'), { 'tonplane.dev/paused': 'x' }), observed, noonMs),
        ),
      ).toEqual([]);
    }
  });
});

function healthy(changes: Partial<Observed> = {}): Observed {
  return {
    live: [deployment()],
    pods: [pod('a', true), pod('b', true)],
    metadataPods: [],
    says: new Map(
      ['a', 'b'].map((uid) => [uid, { version: '0.1.0', configHash: hash, liteServers: { usable: 3, total: 4 } }]),
    ),
    problems: [],
    refusals: [],
    unserved: [],
    hotHash: hash,
    readyMin: 1,
    migration: { state: 'notNeeded' },
    indexer: undefined,
    keys: 5,
    rollout: { hash: 'h', phase: 'settled' },
    fights: [],
    ...changes,
  };
}

function deployment(status: object = {}): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'testnet-api' },
    spec: { replicas: 2 },
    status: { replicas: 2, readyReplicas: 2, updatedReplicas: 2, ...status },
  };
}

/** A pod whose container has ended and waits for its next start. */
function ending(uid: string, terminated: object): KubernetesObject {
  const { status, ...rest } = pod(uid, false);
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s' };
  return { ...rest, status: { ...status, containerStatuses: [{ state: { waiting }, lastState: { terminated } }] } };
}

/** The conditions that kstatus reads besides Ready. */
function standing(status: TonApiStatus): Record<string, string> {
  return Object.fromEntries(
    Object.entries(shown(status)).filter(([type]) => type === 'Stalled' || type === 'Reconciling'),
  );
}

function pod(uid: string, ready: boolean, waiting?: { reason: string; message: string }): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, uid },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ state: waiting ? { waiting } : { running: {} } }],
    },
  };
}

function conditionOf(status: TonApiStatus, type: string): Condition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

function shown(status: TonApiStatus): Record<string, string> {
  return Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value}/${reason}`]),
  );
}
