import type { Migration } from './migration.ts';

/**
 * Accounts whose answers change: their code, the domains of their addresses, or whether they are tokens. Readers cache these in memory and
 * ask here which entries are stale. Rows stay here longer than the time limit of v3's known-accounts.ts. The database writes the table, so
 * that older releases fill it too.
 *
 * Rows have the number of their transaction, as readers see transactions. A transaction that a reader did not see has a number of at least
 * `pg_snapshot_xmin` of its snapshot. The first row of an account in `latest_account_states` is not a change: readers do not cache absent
 * accounts.
 */
export const accountChanges: Migration = {
  version: 10,
  name: 'changes of accounts',
  compatibleFrom: 2,
  statements: [
    `CREATE TABLE account_changes (
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      account bytea NOT NULL,
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    )`,
    'CREATE INDEX account_changes_by_xid ON account_changes (xid)',
    'CREATE INDEX account_changes_by_at ON account_changes (at)',

    `CREATE FUNCTION tell_code_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO account_changes (account) VALUES (OLD.account);
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER account_changes AFTER UPDATE ON latest_account_states FOR EACH ROW
     WHEN (OLD.code_hash IS DISTINCT FROM NEW.code_hash) EXECUTE FUNCTION tell_code_change()`,

    `CREATE FUNCTION tell_domain_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND OLD.nft_item_owner IS NOT NULL THEN
        INSERT INTO account_changes (account) VALUES (OLD.nft_item_owner);
      END IF;
      IF TG_OP <> 'DELETE' AND NEW.nft_item_owner IS NOT NULL THEN
        INSERT INTO account_changes (account) VALUES (NEW.nft_item_owner);
      END IF;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER account_changes AFTER INSERT OR UPDATE OR DELETE ON dns_entries FOR EACH ROW EXECUTE FUNCTION tell_domain_change()`,

    `CREATE FUNCTION tell_token_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO account_changes (account) SELECT account FROM added;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER account_changes AFTER INSERT ON token_accounts REFERENCING NEW TABLE AS added
     FOR EACH STATEMENT EXECUTE FUNCTION tell_token_change()`,

    // Each statement that adds changes deletes up to a thousand old changes: more than nearly all statements add. Changes that another
    // transaction deletes are left to it.
    `CREATE FUNCTION drop_account_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM account_changes WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM account_changes WHERE at < now() - interval '30 minutes' ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED));
      RETURN NULL;
    END $$`,
    'CREATE TRIGGER dropped AFTER INSERT ON account_changes FOR EACH STATEMENT EXECUTE FUNCTION drop_account_changes()',
  ],
};
