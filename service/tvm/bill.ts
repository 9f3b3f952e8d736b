/** Bill of a run: payer and caller of its thread time. */
export type Bill = {
  /** Shares of thread time are equal among payers. */
  readonly payer: string;
  /** Shares of a payer's time are equal among its callers. */
  readonly caller: string;
};

/** Bounds of get-methods set by a plan, and the payer of their thread time. */
export type MethodTerms = {
  readonly payer: string;
  /** Gas of one get-method. */
  readonly gas?: number;
  /** Longest run of one call of the virtual machine, in milliseconds. */
  readonly wallMs?: number;
};
