import type { Session } from './store.ts';

/** Channel of Postgres for all schemas of a database: the name of a channel is as short as that of a schema. */
export const CLASSIFIED_CHANNEL = 'tonplane_classified';

/** Announces classified masterchain blocks, once the transaction commits. @param seqnos of one claim: 8,000 bytes is the bound of Postgres */
export async function announceClassified({ query }: Session, seqnos: readonly number[]): Promise<void> {
  await query(`SELECT pg_notify('${CLASSIFIED_CHANNEL}', current_schema() || ' ' || $1::text)`, [seqnos.join(' ')]);
}

/** Reads an announcement. Undefined for one of another schema. */
export function readAnnouncement(payload: string | undefined, schema: string): readonly number[] | undefined {
  const [announced, ...seqnos] = (payload ?? '').split(' ');
  return announced === schema ? seqnos.map(Number) : undefined;
}
