import type { Migration } from './migration.ts';

const tables = ['jetton_masters', 'jetton_wallets', 'nft_collections', 'nft_items'];

/**
 * Accounts that are or were tokens of any kind: of the hundreds in an answer few are, and each was looked for in four tables. Kept by the database itself, so that
 * releases which know nothing of it keep it too; contracts keep their rows, so nothing is ever taken away.
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
