import type { Migration } from './migration.ts';

const tables = ['jetton_masters', 'jetton_wallets', 'nft_collections', 'nft_items'];

/**
 * Accounts that are or were tokens of any kind. Few of the hundreds in an answer are tokens, and each needed a look-up in four tables. The
 * database maintains the table, so that older releases fill it too. Contracts keep their rows, so no row is ever deleted.
 */
export const tokenAccounts: Migration = {
  version: 9,
  name: 'accounts of tokens',
  compatibleFrom: 2,
  statements: [
    'CREATE TABLE token_accounts (account bytea NOT NULL, PRIMARY KEY (account))',
    `CREATE FUNCTION keep_token_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO token_accounts (account) SELECT address FROM added ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`,
    ...tables.map(
      (table) =>
        `CREATE TRIGGER token_accounts AFTER INSERT ON ${table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_token_accounts()`,
    ),
    `INSERT INTO token_accounts (account) ${tables.map((table) => `SELECT address FROM ${table}`).join(' UNION ')}`,
  ],
};
