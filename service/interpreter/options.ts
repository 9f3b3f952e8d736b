/** Version of the interpretation. Increase it with every change of detection or classification that changes rows. */
export const interpretationVersion = 7;

/** Bounds and times. The defaults suit every network; tests shorten them. */
export type InterpreterTuning = {
  /** Claims in work at a time: one is read, the accounts of one are looked at, one is written. A fourth only waits for the third. */
  readonly workers: number;
  /** Masterchain blocks of one claim, and of one transaction: some thousand transactions on the main network. */
  readonly blocksMax: number;
  /** A worker that is not heard of for so long has lost its claim. */
  readonly claimMs: number;
  /** Pause before a block that cannot be classified is retried. */
  readonly asideMs: number;
  /** Between two looks when there was nothing to do. */
  readonly idleMs: number;
  /** Blocks of an older version that are queued again at a time. */
  readonly againMax: number;
  /** Between two looks at what is left. */
  readonly progressMs: number;
  /** Longest age of a complete trace for storing its rendered form. Older traces are rarely requested, and catching up needs the time. */
  readonly storedAgeS: number;
};

export const tuningDefaults: InterpreterTuning = {
  workers: 3,
  blocksMax: 16,
  claimMs: 60_000,
  asideMs: 300_000,
  idleMs: 250,
  againMax: 1_000,
  progressMs: 2_000,
  storedAgeS: 3_600,
};
