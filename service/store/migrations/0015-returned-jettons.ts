import type { Migration } from './migration.ts';

/** Transfers and burns that a wallet carried out and whose next contract refused them: their jettons are not where the wallet sent them. */
export const returnedJettons: Migration = {
  version: 15,
  name: 'returned jettons',
  compatibleFrom: 2,
  statements: ['jetton_transfers', 'jetton_burns'].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN returned boolean NOT NULL DEFAULT false`,
  ),
};
