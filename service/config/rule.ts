/** Rule over several fields. The API server checks it as CEL; this check is for manifests that no API server sees. */
export type Rule = {
  /** Object that the rule applies to: `` for the manifest, `spec.plans[]` for each plan. */
  readonly scope: string;
  /** Rule in the custom resource's CEL. A test compares both lists. */
  readonly cel: string;
  /**
   * Fields of the object that the rule reads (`plans[].name`: that of each plan). If a field has the wrong shape, the rule is skipped. Fields of
   * which only the presence counts are not listed.
   */
  readonly reads: readonly string[];
  /** Returns the faulty field (`` for the object itself) and the expected value; undefined when the rule holds. */
  readonly check: (self: never) => { readonly field: string; readonly expected: string } | undefined;
};

/**
 * A rule whose check says if it is broken, at which field, and the expected value.
 */
export function rule(
  scope: string,
  cel: string,
  reads: readonly string[],
  check: (self: never) => readonly [broken: boolean, field: string, expected: string],
): Rule {
  return {
    scope,
    cel,
    reads,
    check: (self: never) => {
      const [broken, field, expected] = check(self);
      return broken ? { field, expected } : undefined;
    },
  };
}
