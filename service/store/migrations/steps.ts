import { ledger } from './0001-ledger.ts';
import { meaning } from './0002-meaning.ts';
import type { Migration } from './migration.ts';

/** Every step, in order. */
export const migrations: readonly Migration[] = [ledger, meaning];

/** Version of the schema that this code reads and writes. */
export const schemaVersion = migrations.length;
