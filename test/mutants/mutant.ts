/** A wrong line of a source file. */
export type Mutant = {
  /** Source file, from the root of the project. */
  readonly path: string;
  /** Text that stands in the file once. */
  readonly from: string;
  readonly to: string;
};

/** Mutants of a folder, with the arguments of Vitest for the tests that must find them. */
export type MutantList = { readonly tests: readonly string[]; readonly mutants: readonly Mutant[] };
