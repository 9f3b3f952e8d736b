import type { Migration } from './migration.ts';

/**
 * Accounts of which an answer would tell something else than before: their code, the domains that stand for them, or whether they are tokens. Readers keep that in
 * memory and ask here which of it is old (v3's known-accounts.ts, whose bound on time is shorter than what stays here). Written by the database itself, so that
 * releases which know nothing of it do it too.
 *
 * By transaction, as readers see those: of one that they did not see the number is at least `pg_snapshot_xmin` of what they saw. An account that gets its first
 * row of `latest_account_states` is not told: readers do not keep what is not there.
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

    // With each statement that adds some, up to a thousand old ones: more than nearly all add. Those that another transaction takes away are left to it.
    `CREATE FUNCTION drop_account_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM account_changes WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM account_changes WHERE at < now() - interval '30 minutes' ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED));
      RETURN NULL;
    END $$`,
    'CREATE TRIGGER dropped AFTER INSERT ON account_changes FOR EACH STATEMENT EXECUTE FUNCTION drop_account_changes()',
  ],
};
