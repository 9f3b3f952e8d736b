import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { from as copyFrom } from 'pg-copy-streams';

import type { Columns, Row, Table } from './columns.ts';
import { withStoreErrors } from './errors.ts';
import { encodeCopy, encodeUnnest } from './row-encoding.ts';
import type { Session } from './store.ts';

/** How rows travel: `copy` for the many of the past, `unnest` for the few of a block at the head. Large ones travel by COPY anyway. */
export type InsertMode = 'copy' | 'unnest';

/** Bytes of a statement's values. Postgres ends a connection whose message has a GiB, and both sides have the whole message in memory. */
const UNNEST_BYTES_MAX = 64 * 1024 * 1024;

/** Inserts rows into tables inside a transaction. */
export type Inserts = {
  /** Inserts rows that the table does not have. */
  add<T extends Table>(table: T, rows: readonly Row<T>[]): Promise<void>;
  /** Inserts the rows that the table does not have; rows with a stored key stay unchanged. */
  addMissing<T extends Table>(table: T, rows: readonly Row<T>[]): Promise<void>;
  /**
   * Runs any statement over rows.
   *
   * @param statement receives an expression of a relation, named `given`, with the table's columns
   * @returns rows of the statement
   */
  run<R extends object, T extends Table = Table>(
    table: T,
    rows: readonly Row<T>[],
    statement: (given: string) => string,
  ): Promise<readonly R[]>;
};

export function createInserts(session: Session, carriage: InsertMode): Inserts {
  const staged = new Set<string>();
  const run: Inserts['run'] = async <R extends object, T extends Table>(
    table: T,
    rows: readonly Row<T>[],
    statement: (given: string) => string,
  ) => {
    if (rows.length === 0) return [];
    const small = carriage === 'unnest' ? encodeUnnest(table, rows, UNNEST_BYTES_MAX) : undefined;
    if (small !== undefined) return session.query<R>(statement(`${small.sql} AS given`), small.values);
    const stage = `stage_${table.name}`;
    // A commit empties the stage; a second use in the same transaction must empty it here.
    if (staged.has(stage)) await session.query(`TRUNCATE ${stage}`);
    staged.add(stage);
    await session.query(stageSql(stage, table.columns));
    await copyRows(session, stage, table, rows);
    return session.query<R>(statement(`${stage} AS given`));
  };
  return {
    run,
    async add(table, rows) {
      if (rows.length === 0) return;
      if (carriage === 'copy') await copyRows(session, table.name, table, rows);
      else await run(table, rows, (given) => insertFrom(table, given));
    },
    async addMissing(table, rows) {
      await run(table, rows, (given) => `${insertFrom(table, given)} ON CONFLICT DO NOTHING`);
    },
  };
}

/**
 * Inserts the rows of a relation in the order of the key. Writers that meet then wait for each other in one direction.
 *
 * @param given relation from `Inserts.run`, with optional conditions
 */
export function insertFrom(table: Table, given: string): string {
  const columns = Object.keys(table.columns);
  return `INSERT INTO ${table.name} AS stored (${columns.join(', ')}) SELECT ${columns.map((column) => `given.${column}`).join(', ')} FROM ${given}
    ORDER BY ${table.key.map((column) => `given.${column}`).join(', ')}`;
}

/** Lives as long as the connection, so that batches do not grow the catalogue. */
function stageSql(name: string, columns: Columns): string {
  const types = Object.entries(columns).map(([column, { sql }]) => `${column} ${sql}`);
  return `CREATE TEMPORARY TABLE IF NOT EXISTS ${name} (${types.join(', ')}) ON COMMIT DELETE ROWS`;
}

async function copyRows<T extends Table>(
  session: Session,
  target: string,
  table: T,
  rows: readonly Row<T>[],
): Promise<void> {
  const columns = Object.keys(table.columns).join(', ');
  const stream = session.client.query(copyFrom(`COPY ${target} (${columns}) FROM STDIN (FORMAT binary)`));
  await withStoreErrors(pipeline(Readable.from(encodeCopy(table, rows)), stream));
}
