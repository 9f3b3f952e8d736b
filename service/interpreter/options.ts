import { CLASSIFICATION_VERSION } from '../actions/families.ts';

/** Version of the detection of kinds of contracts. Increase it with every change of detection that changes rows. */
export const DETECTION_VERSION = 2;

/** Version of the interpretation. A higher version of either part queues indexed blocks again. */
export const INTERPRETATION_VERSION = DETECTION_VERSION + CLASSIFICATION_VERSION;

/** Bounds and times. The defaults suit every network; tests shorten them. */
export type InterpreterTuning = {
  /** Claims in work at a time: the first is read, the second is detected, the third is written. A fourth claim only waits. */
  readonly workers: number;
  /** Masterchain blocks of one claim, and of one transaction: some thousand transactions on the main network. */
  readonly blocksMax: number;
  /** Silence after which a worker loses its claim, milliseconds. */
  readonly claimMs: number;
  /** Pause before a block that cannot be classified is retried. Streams pass a block that is aside: at least `ASIDE_MS_MIN`. */
  readonly asideMs: number;
  /** Pause after a round without work, milliseconds. */
  readonly idleMs: number;
  /** Blocks of an older version that are queued again at a time. */
  readonly againMax: number;
  /** Interval of counting remaining blocks, milliseconds. */
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
