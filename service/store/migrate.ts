import type { ClientBase } from 'pg';

import { StoreError, withStoreErrors } from './errors.ts';
import type { Migration } from './migrations/migration.ts';
import { migrations, schemaVersion } from './migrations/steps.ts';
import { LOOK_TIMEOUT_MS, type Store } from './store.ts';

export { schemaVersion } from './migrations/steps.ts';

/** A change that waits longer for a table gives up, because all later readers queue after it. The caller tries again. */
const LOCK_TIMEOUT_MS = 10_000;

/** State of the version table. */
export type SchemaState = {
  readonly version: number;
  /** Oldest code that works on the schema. */
  readonly compatibleFrom: number;
};

/**
 * Brings the schema to this code's version. Each missing step is a separate transaction under a lock, so that several processes may call at
 * once. A schema of a later version stays if this code still works on it.
 *
 * @returns versions of the steps taken
 * @throws StoreError `schema_newer`
 */
export async function migrate(store: Store): Promise<readonly number[]> {
  const client = await store.connect();
  try {
    // Lock of the session: it ends with the session in every case.
    await withStoreErrors(
      client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`tonplane schema ${store.schema}`]),
    );
    await createVersions(client, store.schema);
    const found = await readState(client);
    refuseNewer(found);
    const missing = stepsAfter(found);
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ version }) => version);
  } finally {
    await client.end();
  }
}

/** Removes the schema with all of the index. Only for an index that can be made again. */
export async function dropTables(store: Store): Promise<void> {
  await store.transaction(({ query }) => query(`DROP SCHEMA ${store.schema} CASCADE`));
}

/**
 * Steps that `migrate` would take now. Read-only.
 *
 * @throws StoreError `schema_newer`
 */
export async function missingSteps(store: Store): Promise<readonly Migration[]> {
  const found = await store.transaction(({ client }) => readState(client), { timeoutMs: LOOK_TIMEOUT_MS });
  refuseNewer(found);
  return stepsAfter(found);
}

/**
 * Passes when this code can work on the current schema.
 *
 * @throws StoreError `schema_missing`, `schema_older`, `schema_newer`
 */
export async function checkSchema(store: Store): Promise<SchemaState> {
  const found = await store.transaction(({ client }) => readState(client), { timeoutMs: LOOK_TIMEOUT_MS });
  if (found.version === 0) throw new StoreError('schema_missing', `schema ${store.schema} has no tables: run migrate`);
  if (found.version < schemaVersion) {
    throw new StoreError(
      'schema_older',
      `schema ${store.schema} has version ${found.version}, this is version ${schemaVersion}: run migrate`,
      { found: found.version, expected: schemaVersion },
    );
  }
  refuseNewer(found);
  return found;
}

/** Creating a schema needs a privilege that an existing schema does not need. */
async function createVersions(client: ClientBase, schema: string): Promise<void> {
  const { rowCount } = await withStoreErrors(client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]));
  if (rowCount === 0) await withStoreErrors(client.query(`CREATE SCHEMA ${schema}`));
  await withStoreErrors(
    client.query(`CREATE TABLE IF NOT EXISTS ${schema}.schema_versions (
      version integer PRIMARY KEY,
      name text NOT NULL,
      compatible_from integer NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`),
  );
}

async function readState(client: ClientBase): Promise<SchemaState> {
  const exists = await withStoreErrors(
    client.query<{ found: boolean }>("SELECT to_regclass('schema_versions') IS NOT NULL AS found"),
  );
  if (exists.rows[0]?.found !== true) return { version: 0, compatibleFrom: 0 };
  const { rows } = await withStoreErrors(
    client.query<SchemaState>(
      'SELECT coalesce(max(version), 0) AS version, coalesce(max(compatible_from), 0) AS "compatibleFrom" FROM schema_versions',
    ),
  );
  return rows[0] ?? { version: 0, compatibleFrom: 0 };
}

function stepsAfter(found: SchemaState): Migration[] {
  return migrations.filter(({ version }) => version > found.version);
}

function refuseNewer({ version, compatibleFrom }: SchemaState): void {
  if (compatibleFrom <= schemaVersion) return;
  throw new StoreError(
    'schema_newer',
    `the schema has version ${version}, on which version ${schemaVersion} no longer works: upgrade Tonplane`,
    { found: version, expected: schemaVersion },
  );
}

async function apply(client: ClientBase, { version, name, compatibleFrom, statements }: Migration): Promise<void> {
  const steps = [
    'BEGIN',
    `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
    ...statements,
    `INSERT INTO schema_versions (version, name, compatible_from) VALUES (${version}, '${name}', ${compatibleFrom})`,
    'COMMIT',
  ];
  try {
    for (const step of steps) await withStoreErrors(client.query(step));
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
