import type { Migration } from './migration.ts';

/**
 * Members of vesting whitelists, in the order of first sight. Before, a page of an account in thousands of whitelists read and sorted all
 * of them.
 * The database maintains the table, so that older releases fill it too.
 */
export const vestingWhitelists: Migration = {
  version: 7,
  name: 'whitelists of vestings',
  compatibleFrom: 2,
  statements: [
    `CREATE TABLE vesting_whitelisted (
      member bytea NOT NULL,
      id bigint NOT NULL,
      PRIMARY KEY (member, id)
    )`,
    `CREATE FUNCTION keep_vesting_whitelisted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND OLD.whitelist = NEW.whitelist THEN
        RETURN NULL;
      END IF;
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM vesting_whitelisted WHERE member = ANY (OLD.whitelist) AND id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO vesting_whitelisted (member, id) SELECT DISTINCT member, NEW.id FROM unnest(NEW.whitelist) AS member;
      END IF;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER vesting_whitelisted AFTER INSERT OR UPDATE OR DELETE ON vesting_contracts FOR EACH ROW EXECUTE FUNCTION keep_vesting_whitelisted()`,
    `INSERT INTO vesting_whitelisted (member, id) SELECT DISTINCT member, id FROM vesting_contracts CROSS JOIN LATERAL unnest(whitelist) AS member`,
    'DROP INDEX vesting_contracts_by_whitelisted',
  ],
};
