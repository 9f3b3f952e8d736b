import type { Migration } from './migration.ts';

/**
 * The version of the rules that a block was made by, beside that of the software that made it: nodes run newer software before validators vote for newer rules. What traces
 * show goes by it, so that those that were stored are made anew.
 */
export const globalVersions: Migration = {
  version: 13,
  name: 'global versions',
  compatibleFrom: 2,
  statements: ['ALTER TABLE blocks ADD COLUMN global_version integer', 'TRUNCATE written_traces'],
};
