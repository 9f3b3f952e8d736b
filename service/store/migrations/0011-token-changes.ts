import type { Migration } from './migration.ts';

/** Changed columns, by table of contracts, which keep their rows. Balances and owners of items are excluded: answers read them directly. */
const tableChanges: readonly (readonly [table: string, changed: string])[] = [
  ['jetton_masters', 'OLD.content IS DISTINCT FROM NEW.content'],
  ['nft_collections', 'OLD.content IS DISTINCT FROM NEW.content'],
  ['nft_items', '(OLD.content, OLD.index) IS DISTINCT FROM (NEW.content, NEW.index)'],
  ['jetton_wallets', '(OLD.owner, OLD.jetton) IS DISTINCT FROM (NEW.owner, NEW.jetton)'],
];

/**
 * Tokens whose answers change are among the changed accounts. Reasons are content of contracts, content fetched from outside, and further
 * kinds of an account. Readers cache token metadata in memory (v3's known-tokens.ts), like names of accounts.
 */
export const tokenChanges: Migration = {
  version: 11,
  name: 'changes of tokens',
  compatibleFrom: 2,
  statements: [
    // The first kind of an account is reported already: the account is new in the list.
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
    ...tableChanges.map(
      ([table, changed]) =>
        `CREATE TRIGGER account_changes AFTER UPDATE ON ${table} FOR EACH ROW WHEN (${changed}) EXECUTE FUNCTION tell_words_change()`,
    ),
    `CREATE TRIGGER account_changes AFTER INSERT OR UPDATE OR DELETE ON address_metadata FOR EACH ROW EXECUTE FUNCTION tell_words_change()`,
  ],
};
