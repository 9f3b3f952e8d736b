import type { Migration } from './migration.ts';

/**
 * What says who is shown an action stands in the lists of accounts, and in their indexes: the actions that a page leaves out, or skips, are not looked up.
 * What was told before has no ancestors here until it is told anew: it is looked up as it was.
 */
export const actionsByKind: Migration = {
  version: 6,
  name: 'lists of actions say who is shown them',
  compatibleFrom: 2,
  statements: [
    'ALTER TABLE action_accounts ADD COLUMN ancestor_types text[]',
    'DROP INDEX action_accounts_by_end_lt, action_accounts_by_end_utime',
    ...['lt', 'utime'].map(
      (end) => `CREATE INDEX action_accounts_by_end_${end} ON action_accounts
        (account, trace_end_${end}, trace_id, end_${end}, action_id) INCLUDE (type, ancestor_types)`,
    ),
  ],
};
