import type { InterpretationChanges } from '../store/interpretations.ts';
import { actionVersions, type DefinitionVersion, type FamilyVersion } from './versions.gen.ts';

/**
 * Version of the detection of kinds of contracts, and of transfers. Set it above INTERPRETATION_VERSION with every change of them that changes rows
 * (service/interpreter/README.md#versions).
 */
export const DETECTION_VERSION = 8;

/** Versions of the parts of an interpretation. */
export type InterpretationVersions = InterpretationChanges & {
  /** Version of stored facts about accounts. Facts of another version are not used. */
  readonly facts: number;
};

/** Joins the versions of detection and of actions. */
export function joinVersions(
  detection: number,
  {
    shared,
    families,
  }: { readonly shared: DefinitionVersion; readonly families: Readonly<Record<string, FamilyVersion>> },
): InterpretationVersions {
  const all = Object.values(families);
  const whole = Math.max(
    detection,
    shared.version,
    ...all.flatMap(({ version, opcodes }) => (opcodes === null ? [version] : [])),
  );
  return {
    facts: detection,
    newest: Math.max(whole, ...all.map(({ version }) => version)),
    whole,
    partial: all.flatMap(({ version, opcodes }) =>
      opcodes === null || version <= whole ? [] : [{ version, opcodes }],
    ),
  };
}

/** Versions of this code. */
export const interpretationVersions = joinVersions(DETECTION_VERSION, actionVersions);

/** Version of the interpretation: blocks of an older version are reviewed. */
export const INTERPRETATION_VERSION = interpretationVersions.newest;

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
  /** Blocks of an older version that are reviewed at a time. */
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
