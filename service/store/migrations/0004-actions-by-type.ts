import type { Migration } from './migration.ts';

/**
 * Actions of one account and a few types: those of an account were read one after the other until enough were of these types, all of them for types that
 * it has few of. What was told before has no type here until it is told anew: it is looked through as it was.
 */
export const actionsByType: Migration = {
  version: 4,
  name: 'actions of accounts by type',
  compatibleFrom: 2,
  statements: [
    `ALTER TABLE action_accounts ADD COLUMN type text NOT NULL DEFAULT ''`,
    // What ends at once is sorted by the rest of the order when it is read: writing that down twice more would slow down the telling.
    'CREATE INDEX action_accounts_by_type ON action_accounts (account, type, trace_end_lt)',
    'CREATE INDEX action_accounts_by_type_utime ON action_accounts (account, type, trace_end_utime)',
  ],
};
