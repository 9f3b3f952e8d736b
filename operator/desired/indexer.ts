import { annotationOf, type TonApi } from '../resource.ts';
import { contentHash } from './canonical.ts';
import { child } from './child.ts';
import { migratedAnnotations } from './config-map.ts';
import { awakeReplicas, coldHash, metricsContainerPort, ports, probes, TEMPLATE_REVISION } from './deployment.ts';
import { configMounts, joined, postgresMounts, scratchMounts, tracingMounts } from './mounts.ts';
import { childAnnotations, childLabels, childNames, selectorLabels, type Migrated } from './names.ts';
import { indexNodeOptions, podSpec, versionOf } from './pod.ts';
import { podAnnotations, podLabels, withPodTemplate } from './pod-template.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { containerResources } from './resources.ts';
import { buildMetricsService } from './service.ts';

/** Memory: 0.8 GiB were measured while the past was written at full speed. */
const indexerRequests = { cpu: '500m', memory: '1Gi' } as const;
const migrationRequests = { cpu: '100m', memory: '256Mi' } as const;

/** The indexer writes the current block whole or not at all. The longest transaction therefore bounds the end. */
const INDEXER_GRACE_SECONDS = 60;

/** A day to read the log of a finished migration. */
const FINISHED_SECONDS = 86_400;

/** Longest migration; one that waits for a lock longer than that waits for something broken. */
const MIGRATION_SECONDS_MAX = 6 * 3600;

/**
 * The indexer: a StatefulSet of one pod, or of one a partition with the ordinal as its number. Names make two pods of one number unlikely; the lock in
 * Postgres makes it harmless.
 */
export function buildIndexer(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const { indexer } = tonApi.spec;
  if (indexer === undefined || !hasDatabase(tonApi, release)) return [];
  const { indexer: name } = childNames(tonApi);
  const selector = selectorLabels(tonApi, 'indexer');
  const labels = childLabels(tonApi, 'indexer', versionOf(tonApi, release));
  const shared = { stage: 'indexer', component: 'indexer', name } as const;
  const spec = podSpec(tonApi, release, {
    container: 'indexer',
    args: ['indexer', '--internal-port', String(ports.internal), '--host', '0.0.0.0'],
    mounts: joined([configMounts(tonApi), postgresMounts(tonApi, false), tracingMounts(tonApi), scratchMounts()]),
    resources: containerResources(indexer.resources, indexerRequests),
    ports: [metricsContainerPort],
    nodeOptions: indexNodeOptions,
    extra: probes,
  });
  const template = {
    metadata: {
      labels: { ...podLabels(tonApi), ...labels },
      annotations: {
        ...podAnnotations(tonApi),
        [childAnnotations.coldHash]: contentHash({ cold: coldHash(tonApi, references), indexer }),
        [childAnnotations.templateRevision]: String(TEMPLATE_REVISION),
      },
    },
    spec: withPodTemplate(tonApi, 'indexer', { ...spec, terminationGracePeriodSeconds: INDEXER_GRACE_SECONDS }),
  };
  return [
    child(tonApi, versionOf(tonApi, release), {
      ...shared,
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      body: {
        spec: {
          replicas: awakeReplicas(tonApi, indexer.partitions),
          serviceName: name,
          podManagementPolicy: 'Parallel',
          revisionHistoryLimit: 5,
          selector: { matchLabels: selector },
          template: references.rollout.held?.indexer ?? template,
        },
      },
    }),
    buildMetricsService(tonApi, release, shared),
  ];
}

/** True when the TonApi has a database and the release has a schema for it. A release without a schema serves the rest of the manifest. */
export function hasDatabase({ spec }: TonApi, { schemaVersion }: Release): boolean {
  return spec.postgres !== undefined && schemaVersion !== undefined;
}

/** Length of a key: the rest of a Job's name besides a TonApi's name of 40 characters. */
const KEY_LENGTH = 8;

/**
 * Identity of a migration besides the version of the schema: the database, its authorities, the client certificate, and an image that the
 * manifest names.
 * The operator does not know which schema a foreign image needs. A restart migrates again: the same Secret may now name another database.
 */
export function migrationKey(tonApi: TonApi): string {
  const { image, postgres } = tonApi.spec;
  const { repository, tag, digest } = image ?? {};
  const { secretRef, parts, caBundle, clientCertificate } = postgres ?? {};
  const restart = annotationOf(tonApi, 'restart');
  const database = { secretRef, parts, caBundle, clientCertificate };
  return contentHash({ repository, tag, digest, ...database, restart }).slice(0, KEY_LENGTH);
}

/** True when a migration has done what is wanted. A newer schema serves older releases: it is widened first, narrowed last. */
export function isMigrated(done: Migrated | undefined, wanted: Migrated): boolean {
  return done !== undefined && done.key === wanted.key && done.schema >= wanted.schema;
}

/**
 * Job that brings the schema to the version that the image needs. Undefined once the schema is there, or when there is no database.
 * Undefined in hibernation too, because the database may hibernate.
 */
export function buildMigration(
  tonApi: TonApi,
  references: Pick<References, 'migrated'>,
  release: Release,
): DesiredObject | undefined {
  if (!hasDatabase(tonApi, release) || tonApi.spec.hibernate) return undefined;
  const wanted = { schema: release.schemaVersion ?? 0, key: migrationKey(tonApi) };
  if (isMigrated(references.migrated, wanted)) return undefined;
  const labels = childLabels(tonApi, 'migration', versionOf(tonApi, release));
  const spec = podSpec(tonApi, release, {
    container: 'migration',
    args: ['migrate'],
    mounts: joined([configMounts(tonApi), postgresMounts(tonApi, false), scratchMounts()]),
    resources: containerResources(undefined, migrationRequests),
    // The status reports the reason of a failure.
    extra: { terminationMessagePolicy: 'FallbackToLogsOnError' },
  });
  return child(tonApi, versionOf(tonApi, release), {
    stage: 'migration',
    component: 'migration',
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: childNames(tonApi).migration(wanted),
    annotations: migratedAnnotations(wanted),
    body: {
      spec: {
        backoffLimit: 3,
        activeDeadlineSeconds: MIGRATION_SECONDS_MAX,
        ttlSecondsAfterFinished: FINISHED_SECONDS,
        template: {
          metadata: { labels },
          spec: withPodTemplate(tonApi, 'migration', { ...spec, restartPolicy: 'Never' }),
        },
      },
    },
  });
}
