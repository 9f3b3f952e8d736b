import type { Migration } from './migration.ts';

/** Tables of tokens, whose rows readers cache. */
const tokens = ['jetton_masters', 'nft_collections', 'nft_items', 'jetton_wallets'];

/**
 * Changes of accounts by blocks without a transaction. Such a change may set any last transaction, an earlier one too. The order of an
 * account's states follows the lt of the change.
 */
export const accountEdits: Migration = {
  version: 14,
  name: 'changes of accounts without a transaction',
  compatibleFrom: 2,
  statements: [
    'ALTER TABLE latest_account_states ADD COLUMN changed_lt bigint',
    `CREATE TABLE account_edits (
      account bytea NOT NULL,
      lt bigint NOT NULL,
      mc_seqno integer NOT NULL,
      hash bytea NOT NULL,
      PRIMARY KEY (account, lt)
    )`,
    'CREATE INDEX account_edits_by_mc_seqno ON account_edits (mc_seqno)',
    ...tokens.map(
      (table) =>
        `CREATE TRIGGER account_changes_of_deleted AFTER DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION tell_words_change()`,
    ),
  ],
};
