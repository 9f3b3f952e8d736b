import type { EmulatorProgram } from './emulator.ts';
import type { GasTrace } from './gas-trace.ts';

/** A configuration as threads keep it: shared memory, so that a call carries no copy of it. */
export type JobConfig = {
  /** Hash of its root cell in hex. */
  readonly key: string;
  /** Bag of cells of the dictionary. */
  readonly boc: SharedArrayBuffer;
};

/** What a thread runs; strings are JSON or bags of cells in base64, as the emulator takes them. */
export type Job = { readonly config: JobConfig; readonly params: string; readonly log: boolean } & (
  | {
      readonly kind: 'getMethods';
      /** Of one account, which `params` has. */
      readonly calls: readonly { readonly methodId: number; readonly stack: string }[];
      /** Of contracts that look, beside `params`: half of a run's time is reading them. Empty for none. */
      readonly previousBlocks: string;
      /** No further call is begun when those before have used so much: a job has one wall limit. */
      readonly gasMax: number;
    }
  | {
      readonly kind: 'transaction';
      readonly shardAccount: string;
      /** Empty for tick and tock. */
      readonly message: string;
      /** Dictionary of libraries; empty for none. */
      readonly libraries: string;
      /** Follow the gas of each instruction. */
      readonly gasTrace: boolean;
    }
);

/** What the emulator answered, as far as it is of use. */
export type JobOutput =
  /** Of the calls in their order; the last ones may not have been begun. */
  | { readonly kind: 'getMethods'; readonly runs: readonly MethodOutput[] }
  | {
      readonly kind: 'transaction';
      readonly transaction: Buffer;
      readonly shardAccount: Buffer;
      readonly actions: Buffer | undefined;
      readonly gasTrace: GasTrace | undefined;
      readonly libraryFailed: boolean;
      readonly log: string | undefined;
    }
  | {
      readonly kind: 'rejected';
      readonly error: string;
      readonly exitCode: number | undefined;
      readonly libraryFailed: boolean;
      readonly log: string | undefined;
    }
  | RefusedOutput;

/** The emulator did not take the inputs, or could not write the result. */
export type RefusedOutput = {
  readonly kind: 'refused';
  readonly error: string;
  /** The emulator ended the call without an answer (`EmulatorFault`). */
  readonly fault?: 'exception' | 'trap';
};

export type MethodOutput =
  | {
      readonly kind: 'ran';
      readonly exitCode: number;
      readonly gasUsed: bigint;
      /** Bag of cells of the resulting `VmStack`. */
      readonly stack: Buffer;
      /** Hash of a library that the run wanted and did not have. */
      readonly missingLibrary: string | undefined;
      readonly config: 'slim' | 'full';
      readonly log: string | undefined;
    }
  | RefusedOutput;

/** Characters of a VM log that is handed out: the start, where the cause of most failures stands. */
export const LOG_CHARACTERS_MAX = 64 * 1024;

export type ThreadData = { readonly program: EmulatorProgram | undefined };

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly program: EmulatorProgram }
  /** `usedMs`: CPU time of the thread. */
  | { readonly kind: 'done'; readonly output: JobOutput; readonly memoryBytes: number; readonly usedMs: number }
  /** A job could not be run; the thread is of no more use. */
  | { readonly kind: 'dead'; readonly error: string };
