import type { Migration } from './migration.ts';

/** Traces in the form of answers, packed: requests of wallets and explorers then need no transactions. Rows may be missing. */
export const writtenTraces: Migration = {
  version: 8,
  name: 'written traces',
  compatibleFrom: 2,
  statements: [
    `CREATE TABLE written_traces (
      trace_id bytea NOT NULL,
      nodes integer NOT NULL,
      edges integer NOT NULL,
      form integer NOT NULL,
      messages integer NOT NULL,
      accounts bytea[] NOT NULL,
      packed bytea NOT NULL,
      PRIMARY KEY (trace_id)
    )`,
    'ALTER TABLE written_traces ALTER COLUMN packed SET STORAGE EXTERNAL',
    // Most traces take 2 to 8 KB: stored in their row they are read at once, two to a page.
    'ALTER TABLE written_traces SET (toast_tuple_target = 8160)',
  ],
};
