import type { Migration } from './migration.ts';

/** Decoded bodies have the forms of TON Center since, so stored traces are rendered again. */
export const printedBodies: Migration = {
  version: 16,
  name: 'decoded bodies as TON Center prints them',
  compatibleFrom: 2,
  statements: ['TRUNCATE written_traces'],
};
