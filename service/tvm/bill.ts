/** Bill of a run: payer and caller of its thread time. */
export type Bill = {
  /** Shares of thread time are equal among payers. */
  readonly payer: string;
  /** Shares of a payer's time are equal among its callers. */
  readonly caller: string;
};

/**
 * Thread time of all runs for one request. Each run takes the time that it used when it ends. Runs at one time may together exceed the
 * budget, each by its own length. The kernel counts a thread's time in steps of a few milliseconds: short runs are right in sum alone.
 */
export type ThreadBudget = {
  /** Milliseconds that are left; below 0 after a run that used more. */
  leftMs: number;
};

/** Bounds of get-methods set by a plan, and the payer of their thread time. */
export type MethodTerms = {
  readonly payer: string;
  /** Gas of one get-method. */
  readonly gas?: number;
  /** Longest run of one call of the virtual machine, in milliseconds. */
  readonly wallMs?: number;
};
