/**
 * One step of the schema. Steps are only added, never changed or taken back, and they follow expand and contract: a step that adds leaves the
 * version before it working (`compatibleFrom` stays); what it made needless is removed by a later step, whose `compatibleFrom` is the first version
 * that no longer asks for it.
 */
export type Migration = {
  /** Its place: 1, 2, … without holes. */
  readonly version: number;
  readonly name: string;
  /** Oldest schema version whose code still works on tables after this step. */
  readonly compatibleFrom: number;
  /** In one transaction, in the schema of the index. Written out, not made from the tables that the code believes in: those go on, and a step stays. */
  readonly statements: readonly string[];
};
