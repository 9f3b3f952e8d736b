import type { Migration } from './migration.ts';

/**
 * Version of the rules that made a block, next to the version of the software. Nodes run newer software before validators vote for newer
 * rules. Rendered traces depend on it, so stored traces are rendered again.
 */
export const globalVersions: Migration = {
  version: 13,
  name: 'global versions',
  compatibleFrom: 2,
  statements: ['ALTER TABLE blocks ADD COLUMN global_version integer', 'TRUNCATE written_traces'],
};
