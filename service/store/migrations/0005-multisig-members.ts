import type { Migration } from './migration.ts';

/**
 * Signers and proposers of multisigs, in the order of first sight. Before, a page of a member of thousands read and sorted all of them.
 * The database maintains the table, so that older releases fill it too.
 */
export const multisigMembers: Migration = {
  version: 5,
  name: 'members of multisigs',
  compatibleFrom: 2,
  statements: [
    `CREATE TABLE multisig_members (
      member bytea NOT NULL,
      id bigint NOT NULL,
      PRIMARY KEY (member, id)
    )`,
    `CREATE FUNCTION keep_multisig_members() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND OLD.signers = NEW.signers AND OLD.proposers = NEW.proposers THEN
        RETURN NULL;
      END IF;
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM multisig_members WHERE member = ANY (OLD.signers || OLD.proposers) AND id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO multisig_members (member, id) SELECT DISTINCT member, NEW.id FROM unnest(NEW.signers || NEW.proposers) AS member;
      END IF;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER multisig_members AFTER INSERT OR UPDATE OR DELETE ON multisigs FOR EACH ROW EXECUTE FUNCTION keep_multisig_members()`,
    `INSERT INTO multisig_members (member, id) SELECT DISTINCT member, id FROM multisigs CROSS JOIN LATERAL unnest(signers || proposers) AS member`,
    'DROP INDEX multisigs_by_signer, multisigs_by_proposer',
  ],
};
