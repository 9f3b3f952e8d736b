import { isMigrated, migrationKey } from '../desired/indexer.ts';
import { mountsDatabase } from '../desired/mounts.ts';
import { childAnnotations, childNames, type Migrated } from '../desired/names.ts';
import type { Change } from '../diff/diff.ts';
import { endOf } from '../kubernetes/bounded-text.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import type { MigrationState } from '../status/observed.ts';
import { waitingReason } from '../status/pods.ts';

/** Last known migration of the database: the wanted migration if it is done, else the migration that the ConfigMap records. */
export function migrated(tonApi: TonApi, live: readonly KubernetesObject[]): Migrated | undefined {
  const names = childNames(tonApi);
  const key = migrationKey(tonApi);
  const configMap = live.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === names.config);
  const remembered = configMap && migrationOf(configMap);
  const jobs = live.filter((object) => object.kind === 'Job' && hasCondition(object, 'Complete')).map(migrationOf);
  const done = [remembered, ...jobs].filter((one) => one?.key === key).map((one) => one?.schema ?? 0);
  return done.length === 0 ? remembered : { schema: Math.max(...done), key };
}

/** @param pods of the TonApi. Pods of the migration's Job show why it does not progress. */
export function migrationState(
  tonApi: TonApi,
  wantedSchema: number | undefined,
  live: readonly KubernetesObject[],
  pods: readonly KubernetesObject[] = [],
): MigrationState {
  if (tonApi.spec.postgres === undefined || wantedSchema === undefined) return { state: 'notNeeded' };
  const wanted = { schema: wantedSchema, key: migrationKey(tonApi) };
  if (isMigrated(migrated(tonApi, live), wanted)) return { state: 'current' };
  const name = childNames(tonApi).migration(wanted);
  const job = live.find(({ kind, metadata }) => kind === 'Job' && metadata.name === name);
  const tries = pods.filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === name);
  const said = lastWords(tries);
  const waiting = tries.filter(({ status }) => status?.['phase'] === 'Pending').map(waitingReason);
  const cause = waiting.find((reason) => reason !== undefined);
  const why = (said === undefined ? '' : `; it says: ${said}`) + (cause === undefined ? '' : `; ${cause}`);
  if (job === undefined && tonApi.spec.hibernate) {
    return { state: 'suspended', message: 'the migration begins when hibernate is false' };
  }
  if (job === undefined || !hasCondition(job, 'Failed')) {
    return { state: 'running', message: `waits for the migration Job ${name}${why}` };
  }
  return { state: 'failed', message: `Job ${name} failed${why}; delete it to try again` };
}

/**
 * Returns the changes allowed before the schema is there: all but pods and templates that need the database (operator/README.md#children).
 * A workload without pods needs no schema until it gets pods.
 */
export function admitted(changes: readonly Change[], { state }: MigrationState): Change[] {
  if (state === 'notNeeded' || state === 'current') return [...changes];
  return changes.filter((change) => {
    if (change.action === 'delete' || change.action === 'refuse') return true;
    const { stage, object } = change.desired;
    if (stage === 'migration' || !mountsDatabase(object.spec?.['template'] ?? {})) return true;
    return object.spec?.['replicas'] === 0 || !startsPods(change);
  });
}

/** True for a change that makes pods of another template, or the first pods of a workload. */
function startsPods(change: Extract<Change, { readonly action: 'create' | 'update' }>): boolean {
  return change.action === 'create' || change.restart.restart || change.live.spec?.['replicas'] === 0;
}

function migrationOf({ metadata }: KubernetesObject): Migrated | undefined {
  const { [childAnnotations.schemaVersion]: schema, [childAnnotations.migrationKey]: key } = metadata.annotations ?? {};
  return schema === undefined || key === undefined ? undefined : { schema: Number(schema), key };
}

function hasCondition({ status }: KubernetesObject, type: 'Complete' | 'Failed'): boolean {
  const conditions = (status?.['conditions'] ?? []) as readonly { readonly type: string; readonly status: string }[];
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

type Terminated = { readonly finishedAt?: string; readonly message?: string };
type ContainerStatus = { readonly state?: { readonly terminated?: Terminated } };

/** Length of a log in the status. */
const SHOWN_LENGTH_MAX = 300;

/** End of the log of the try that ended last, on one line. */
function lastWords(pods: readonly KubernetesObject[]): string | undefined {
  const ends = pods
    .flatMap(({ status }) => (status?.['containerStatuses'] ?? []) as readonly ContainerStatus[])
    .flatMap(({ state }) => state?.terminated ?? [])
    .filter(({ message }) => message !== undefined && message !== '');
  const last = ends.toSorted((a, b) => ((a.finishedAt ?? '') < (b.finishedAt ?? '') ? -1 : 1)).at(-1);
  return last && endOf((last.message ?? '').trim().replaceAll(/\s+/g, ' '), SHOWN_LENGTH_MAX);
}
