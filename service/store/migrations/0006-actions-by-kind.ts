import type { Migration } from './migration.ts';

/**
 * The lists of accounts and their indexes have the columns that decide which callers see an action. Actions that a page leaves out or skips
 * are not looked up.
 * Older rows have no ancestors until they are interpreted again: they are looked up as before.
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
