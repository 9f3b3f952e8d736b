import type { Inserts } from './insert.ts';
import { createInserts } from './insert.ts';
import { addressMetadata, type AddressMetadataRow } from './classification-tables.ts';
import type { Session, Store } from './store.ts';
import { tokenTypes, type TokenName, type TokenWords } from './token-content.ts';

/** A token whose metadata is to be fetched, taken from the queue. */
export type MetadataTask = TokenName & {
  readonly address: Buffer;
  /** Claim of the last worker that took the task: no other worker can end it. */
  readonly claim: bigint;
  /** Attempts, this attempt included. */
  readonly attempts: number;
  /** Host to be asked; null before the first attempt. */
  readonly host: string | null;
  /** Content on the chain; null for an account that is no such token. */
  readonly content: Readonly<Record<string, unknown>> | null;
};

export type ClaimOptions = {
  readonly tasksMax: number;
  /** A number that is unique among claims. */
  readonly claim: bigint;
  /** Hosts at their limit: their tasks stay queued. */
  readonly busyHosts: readonly string[];
};

/** Result of a task. */
export type MetadataOutcome =
  | { readonly kind: 'fetched'; readonly words: TokenWords; readonly expiresInSeconds: number }
  /** Tried again. */
  | { readonly kind: 'failed'; readonly againInSeconds: number; readonly expiresInSeconds: number }
  /** Not tried again before it expires. */
  | { readonly kind: 'given_up'; readonly expiresInSeconds: number }
  /** The token has nothing to fetch or report; the task ends. */
  | { readonly kind: 'dropped' };

/** Other processes take over the tasks of a killed or stuck process after this time. */
export const CLAIM_SECONDS = 300;

/** Claims tasks, oldest first; tasks with a current claim are skipped. Uses the index of `due_at`. */
export async function claimMetadataTasks(
  store: Store,
  { tasksMax, claim, busyHosts }: ClaimOptions,
): Promise<MetadataTask[]> {
  return store.transaction(({ query }) => query<MetadataTask>(claimSql, [tasksMax, busyHosts, claim]));
}

const contents = tokenTypes
  .map((type) => `SELECT content FROM ${type} t WHERE taken.type = '${type}' AND t.address = taken.address`)
  .join(' UNION ALL ');

const claimSql = `
  WITH due AS (
    SELECT address, type FROM metadata_tasks
    WHERE due_at <= now() AND (host IS NULL OR host <> ALL($2::text[]))
    ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE metadata_tasks task SET claim = $3, attempts = attempts + 1, due_at = now() + interval '${CLAIM_SECONDS} seconds'
    FROM due WHERE task.address = due.address AND task.type = due.type
    RETURNING task.address, task.type, task.claim, task.attempts, task.host
  )
  SELECT taken.*, (${contents}) AS content FROM taken`;

/**
 * Ends an attempt at a task and writes its result, in a single transaction. A failure leaves the last good metadata in place.
 *
 * @returns false when another worker has the task: nothing is written then
 */
export async function endMetadataTask(store: Store, task: MetadataTask, outcome: MetadataOutcome): Promise<boolean> {
  return store.transaction(async (session) => {
    if (!(await leaveQueue(session, task, outcome))) return false;
    if (outcome.kind === 'dropped') return true;
    const inserts = createInserts(session, 'unnest');
    const row = await rowOf(session, task, outcome);
    if (outcome.kind === 'fetched') await put(inserts, row, everyColumn);
    // Good metadata stays; only the time of its next check may change.
    else if (outcome.kind === 'given_up') await put(inserts, row, 'expires_at = excluded.expires_at');
    else await inserts.addMissing(addressMetadata, [row]);
    return true;
  });
}

/** @returns whether the task was still this claim's */
async function leaveQueue({ query }: Session, task: MetadataTask, outcome: MetadataOutcome): Promise<boolean> {
  const key = [task.address, task.type, task.claim];
  const mine = 'WHERE address = $1 AND type = $2 AND claim = $3 RETURNING address';
  const rows =
    outcome.kind === 'failed'
      ? await query(`UPDATE metadata_tasks SET due_at = now() + make_interval(secs => $4) ${mine}`, [
          ...key,
          outcome.againInSeconds,
        ])
      : await query(`DELETE FROM metadata_tasks ${mine}`, key);
  return rows.length > 0;
}

const nothing: TokenWords = { name: null, description: null, symbol: null, image: null, extra: {} };

/** Times are from Postgres: the API compares them with its clock too. */
async function rowOf(
  { query }: Session,
  { address, type }: MetadataTask,
  outcome: Exclude<MetadataOutcome, { kind: 'dropped' }>,
): Promise<AddressMetadataRow> {
  const [clock] = await query<{ now: number }>('SELECT extract(epoch FROM now())::integer AS now');
  const now = clock?.now ?? 0;
  const words = outcome.kind === 'fetched' ? outcome.words : nothing;
  const valid = outcome.kind === 'fetched';
  return { address, type, valid, ...words, updated_at: now, expires_at: now + outcome.expiresInSeconds };
}

const everyColumn = Object.keys(addressMetadata.columns)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

async function put(inserts: Inserts, row: AddressMetadataRow, changes: string): Promise<void> {
  const names = Object.keys(addressMetadata.columns).join(', ');
  await inserts.run(
    addressMetadata,
    [row],
    (given) =>
      `INSERT INTO address_metadata (${names}) SELECT ${names} FROM ${given} ON CONFLICT (address, type) DO UPDATE SET ${changes}`,
  );
}

/** Returns unstarted tasks to the queue; findings about their hosts stay. */
export async function releaseMetadataTasks(
  store: Store,
  tasks: readonly (Pick<MetadataTask, 'address' | 'type' | 'claim'> & { readonly host: string | null })[],
): Promise<void> {
  if (tasks.length === 0) return;
  const column = <K extends keyof (typeof tasks)[number]>(name: K) => tasks.map((task) => task[name]);
  await store.transaction(({ query }) =>
    query(
      `UPDATE metadata_tasks task SET due_at = now(), attempts = attempts - 1, host = given.host
       FROM unnest($1::bytea[], $2::text[], $3::bigint[], $4::text[]) AS given (address, type, claim, host)
       WHERE task.address = given.address AND task.type = given.type AND task.claim = given.claim`,
      [column('address'), column('type'), column('claim'), column('host')],
    ),
  );
}

/** Number of open tasks. Counting stops at `tasksMax`. */
export type MetadataBacklog = {
  readonly tasks: number;
  /** Seconds since the longest waiting task fell due. */
  readonly oldestSeconds: number;
};

export async function readMetadataBacklog(store: Store, tasksMax: number): Promise<MetadataBacklog> {
  const [row] = await store.transaction(({ query }) =>
    query<{ tasks: number; oldest: number }>(
      `SELECT (SELECT count(*)::integer FROM (SELECT 1 FROM metadata_tasks LIMIT $1) AS counted) AS tasks,
        coalesce(extract(epoch FROM now() - (SELECT min(due_at) FROM metadata_tasks))::float8, 0) AS oldest`,
      [tasksMax],
    ),
  );
  return { tasks: row?.tasks ?? 0, oldestSeconds: Math.max(0, row?.oldest ?? 0) };
}
