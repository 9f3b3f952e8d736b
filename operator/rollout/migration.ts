import { childAnnotations, childNames } from '../desired/names.ts';
import type { Change } from '../diff/diff.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';

/** Where the schema is: `current` when it is what the release needs, or nothing is needed. */
export type MigrationState =
  | { readonly state: 'notNeeded' | 'current' | 'running' }
  | { readonly state: 'failed'; readonly message: string };

/** Version that the database is known to have: of a migration that is done, or as the ConfigMap remembers it after the Job is gone. */
export function migratedSchema(tonApi: TonApi, live: readonly KubernetesObject[]): number | undefined {
  const names = childNames(tonApi);
  const remembered = live.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === names.config);
  const versions = [
    remembered?.metadata.annotations?.[childAnnotations.schemaVersion],
    ...live.filter((object) => object.kind === 'Job' && hasCondition(object, 'Complete')).map(versionOfJob),
  ].filter((version) => version !== undefined);
  return versions.length === 0 ? undefined : Math.max(...versions.map(Number));
}

export function migrationState(
  tonApi: TonApi,
  wantedSchema: number | undefined,
  live: readonly KubernetesObject[],
): MigrationState {
  if (tonApi.spec.postgres === undefined || wantedSchema === undefined) return { state: 'notNeeded' };
  if ((migratedSchema(tonApi, live) ?? -1) >= wantedSchema) return { state: 'current' };
  const name = childNames(tonApi).migration(wantedSchema);
  const job = live.find(({ kind, metadata }) => kind === 'Job' && metadata.name === name);
  if (job === undefined || !hasCondition(job, 'Failed')) return { state: 'running' };
  return { state: 'failed', message: `Job ${name} failed: look at its log, then delete it to try again` };
}

/**
 * The changes that may be made before the schema is there (operator sheet 4.1, 5.2): configuration and the migration itself, and whatever leaves running
 * pods alone. New pods and new templates wait.
 */
export function admitted(changes: readonly Change[], { state }: MigrationState): Change[] {
  if (state === 'notNeeded' || state === 'current') return [...changes];
  return changes.filter((change) => {
    if (change.action === 'delete' || change.action === 'refuse') return true;
    const { stage, object } = change.desired;
    if (stage === 'config' || stage === 'migration') return true;
    return change.action === 'update' ? !change.restart.restart : !startsPods.has(object.kind);
  });
}

const startsPods: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet']);

/** `NAME-migrate-7` -> 7. */
function versionOfJob({ metadata }: KubernetesObject): string | undefined {
  return /-migrate-(\d+)$/.exec(metadata.name)?.[1];
}

function hasCondition({ status }: KubernetesObject, type: 'Complete' | 'Failed'): boolean {
  const conditions = (status?.['conditions'] ?? []) as readonly { readonly type: string; readonly status: string }[];
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}
