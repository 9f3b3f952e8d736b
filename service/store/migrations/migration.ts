/**
 * A step of the schema. Steps are only added, never changed or taken back, and they follow expand and contract. A step that adds leaves the
 * version before it working (`compatibleFrom` stays). A later step removes unused parts; its `compatibleFrom` is the first version that no
 * longer reads them.
 */
export type Migration = {
  /** Its place: 1, 2, … without holes. */
  readonly version: number;
  readonly name: string;
  /** Oldest schema version whose code still works on tables after this step. */
  readonly compatibleFrom: number;
  /**
   * Statements of a single transaction, in the schema of the index. Literal SQL, not derived from the tables in code: tables in code
   * change, a step never does.
   */
  readonly statements: readonly string[];
};
