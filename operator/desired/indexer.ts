import type { TonApi } from '../resource.ts';
import { contentHash } from './canonical.ts';
import { child } from './child.ts';
import { coldHash, ports, probes, templateRevision } from './deployment.ts';
import { configMounts, joined, postgresMounts, scratchMounts } from './mounts.ts';
import { childAnnotations, childLabels, childNames, selectorLabels } from './names.ts';
import { podSpec, versionOf } from './pod.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { containerResources } from './resources.ts';

const indexerRequests = { cpu: '500m', memory: '512Mi' } as const;
const migrationRequests = { cpu: '100m', memory: '256Mi' } as const;

/** The block under way is written whole or not at all, so the end needs no more than the longest transaction. */
const indexerGraceSeconds = 60;

/** A day to look at a finished migration's log. */
const finishedSeconds = 86_400;

/** Longest migration; one that waits for a lock longer than that waits for something broken. */
const migrationSecondsMax = 6 * 3600;

/**
 * The indexer: a StatefulSet of one pod, or of one a partition with the ordinal as its number. Names make two pods of one number unlikely; the lock in
 * Postgres makes it harmless.
 */
export function buildIndexer(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const { indexer, podTemplate } = tonApi.spec;
  if (indexer === undefined || !hasDatabase(tonApi, release)) return [];
  const { indexer: name } = childNames(tonApi);
  const selector = selectorLabels(tonApi, 'indexer');
  const labels = childLabels(tonApi, 'indexer', versionOf(tonApi, release));
  const start = indexer.startSeqno === undefined ? [] : ['--start-seqno', String(indexer.startSeqno)];
  const shared = { stage: 'indexer', component: 'indexer', name } as const;
  const spec = podSpec(tonApi, release, {
    container: 'indexer',
    args: [
      'indexer',
      '--internal-port',
      String(ports.internal),
      '--host',
      '0.0.0.0',
      '--partitions',
      String(indexer.partitions),
      ...start,
    ],
    mounts: joined([configMounts(tonApi), postgresMounts(tonApi, false), scratchMounts()]),
    resources: containerResources(indexer.resources, indexerRequests),
    ports: [{ name: 'metrics', containerPort: ports.internal }],
    extra: probes,
  });
  const template = {
    metadata: {
      labels: { ...podTemplate?.labels, ...labels },
      annotations: {
        ...podTemplate?.annotations,
        [childAnnotations.coldHash]: contentHash({ cold: coldHash(tonApi, references), indexer }),
        [childAnnotations.templateRevision]: String(templateRevision),
      },
    },
    spec: { ...spec, terminationGracePeriodSeconds: indexerGraceSeconds },
  };
  return [
    child(tonApi, versionOf(tonApi, release), {
      ...shared,
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      body: {
        spec: {
          replicas: indexer.partitions,
          serviceName: name,
          podManagementPolicy: 'Parallel',
          revisionHistoryLimit: 5,
          selector: { matchLabels: selector },
          template: references.rollout.held?.indexer ?? template,
        },
      },
    }),
    child(tonApi, release.version, {
      ...shared,
      apiVersion: 'v1',
      kind: 'Service',
      body: {
        spec: {
          clusterIP: 'None',
          publishNotReadyAddresses: true,
          selector,
          ports: [
            { name: 'metrics', port: ports.internal, targetPort: 'metrics', protocol: 'TCP', appProtocol: 'http' },
          ],
        },
      },
    }),
  ];
}

/** True when there is a database and the release can use it: one without a schema serves the rest of the manifest. */
export function hasDatabase({ spec }: TonApi, { schemaVersion }: Release): boolean {
  return spec.postgres !== undefined && schemaVersion !== undefined;
}

/** True when the database has what this release needs, or neither is there. A newer schema serves older releases: it is widened first, narrowed last. */
function schemaReady(
  tonApi: TonApi,
  { migratedSchema }: Pick<References, 'migratedSchema'>,
  release: Release,
): boolean {
  return !hasDatabase(tonApi, release) || (migratedSchema ?? -1) >= (release.schemaVersion ?? 0);
}

/** The Job that brings the schema to what this release needs, named after the version; undefined once it is there. */
export function buildMigration(
  tonApi: TonApi,
  references: Pick<References, 'migratedSchema'>,
  release: Release,
): DesiredObject | undefined {
  if (schemaReady(tonApi, references, release)) return undefined;
  const schemaVersion = release.schemaVersion ?? 0;
  const labels = childLabels(tonApi, 'migration', versionOf(tonApi, release));
  const spec = podSpec(tonApi, release, {
    container: 'migration',
    args: ['migrate'],
    mounts: joined([configMounts(tonApi), postgresMounts(tonApi, false), scratchMounts()]),
    resources: containerResources(undefined, migrationRequests),
  });
  return child(tonApi, versionOf(tonApi, release), {
    stage: 'migration',
    component: 'migration',
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: childNames(tonApi).migration(schemaVersion),
    body: {
      spec: {
        backoffLimit: 3,
        activeDeadlineSeconds: migrationSecondsMax,
        ttlSecondsAfterFinished: finishedSeconds,
        template: { metadata: { labels }, spec: { ...spec, restartPolicy: 'Never' } },
      },
    },
  });
}
