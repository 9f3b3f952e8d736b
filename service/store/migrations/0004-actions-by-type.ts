import type { Migration } from './migration.ts';

/**
 * Actions of an account and a few types. Before, actions of an account were read in order until enough had these types; all were read for
 * rare types. Older rows have no type until they are interpreted again: they are scanned as before.
 */
export const actionsByType: Migration = {
  version: 4,
  name: 'actions of accounts by type',
  compatibleFrom: 2,
  statements: [
    `ALTER TABLE action_accounts ADD COLUMN type text NOT NULL DEFAULT ''`,
    // Actions with the same end are sorted by the rest of the order on reading. Two more columns in the index slow down writing.
    'CREATE INDEX action_accounts_by_type ON action_accounts (account, type, trace_end_lt)',
    'CREATE INDEX action_accounts_by_type_utime ON action_accounts (account, type, trace_end_utime)',
  ],
};
