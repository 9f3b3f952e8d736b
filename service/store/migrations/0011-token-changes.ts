import type { Migration } from './migration.ts';

/** Of tables of contracts, which keep their rows. Balances and owners of items go on changing: answers look at those themselves. */
const told: readonly (readonly [table: string, changed: string])[] = [
  ['jetton_masters', 'OLD.content IS DISTINCT FROM NEW.content'],
  ['nft_collections', 'OLD.content IS DISTINCT FROM NEW.content'],
  ['nft_items', '(OLD.content, OLD.index) IS DISTINCT FROM (NEW.content, NEW.index)'],
  ['jetton_wallets', '(OLD.owner, OLD.jetton) IS DISTINCT FROM (NEW.owner, NEW.jetton)'],
];

/**
 * Tokens of which an answer would tell other words than before are among the changed accounts: what contracts say of themselves, what was fetched from elsewhere, and
 * what an account is beside what it was. Readers keep words in memory (v3's known-tokens.ts), as they do the names of accounts.
 */
export const tokenChanges: Migration = {
  version: 11,
  name: 'changes of tokens',
  compatibleFrom: 2,
  statements: [
    // The first thing that an account is was told already: it is new in the list.
    `CREATE OR REPLACE FUNCTION keep_token_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO account_changes (account) SELECT account FROM added JOIN token_accounts ON account = address;
      INSERT INTO token_accounts (account) SELECT address FROM added ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`,
    `CREATE FUNCTION tell_words_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO account_changes (account) VALUES (coalesce(OLD.address, NEW.address));
      RETURN NULL;
    END $$`,
    ...told.map(
      ([table, changed]) =>
        `CREATE TRIGGER account_changes AFTER UPDATE ON ${table} FOR EACH ROW WHEN (${changed}) EXECUTE FUNCTION tell_words_change()`,
    ),
    `CREATE TRIGGER account_changes AFTER INSERT OR UPDATE OR DELETE ON address_metadata FOR EACH ROW EXECUTE FUNCTION tell_words_change()`,
  ],
};
