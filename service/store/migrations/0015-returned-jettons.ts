import type { Migration } from './migration.ts';

/**
 * Transfers and burns that a wallet executed and the next contract refused. Their jettons did not arrive at the destination. Rendered
 * traces show decoded bodies of bounced messages since, so stored traces are rendered again.
 */
export const returnedJettons: Migration = {
  version: 15,
  name: 'returned jettons',
  compatibleFrom: 2,
  statements: [
    ...['jetton_transfers', 'jetton_burns'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN returned boolean NOT NULL DEFAULT false`,
    ),
    'TRUNCATE written_traces',
  ],
};
