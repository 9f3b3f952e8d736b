import type { EmulatorProgram } from './emulator.ts';
import type { GasTrace } from './gas-trace.ts';

/** Configuration shared with threads, in shared memory, so that a call needs no copy. */
export type JobConfig = {
  /** Hash of its root cell in hex. */
  readonly key: string;
  /** Bag of cells of the dictionary. */
  readonly boc: SharedArrayBuffer;
};

/** Job of a thread. Strings are JSON or bags of cells in base64, as the emulator takes them. */
export type Job = { readonly config: JobConfig; readonly params: string; readonly log: boolean } & (
  | {
      readonly kind: 'getMethods';
      /** Calls of one account, which is in `params`. */
      readonly calls: readonly { readonly methodId: number; readonly stack: string }[];
      /** Previous blocks for contracts that read them, next to `params` because parsing them takes half of a run's time. Empty for none. */
      readonly previousBlocks: string;
      /** Gas of earlier calls after which no further call starts, because a job has one wall limit. */
      readonly gasMax: number;
    }
  | {
      readonly kind: 'transaction';
      readonly shardAccount: string;
      /** Inbound message; empty for tick and tock. */
      readonly message: string;
      /** Dictionary of libraries; empty for none. */
      readonly libraries: string;
      /** Previous blocks; empty for none. */
      readonly previousBlocks: string;
      /** True to record the gas of each instruction. */
      readonly gasTrace: boolean;
    }
);

/** Answer of the emulator, as far as it is used. */
export type JobOutput =
  /** Results of the calls in order. The last calls may not have started. */
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

/** Output when the emulator refused the inputs, or could not write the result. */
export type RefusedOutput = {
  readonly kind: 'refused';
  readonly error: string;
  /** Set when the emulator ended the call without an answer (`EmulatorFault`). */
  readonly fault?: 'exception' | 'trap';
};

export type MethodOutput =
  | {
      readonly kind: 'ran';
      readonly exitCode: number;
      readonly gasUsed: bigint;
      /** Resulting `VmStack` as a bag of cells. */
      readonly stack: Buffer;
      /** Hash of a library that the run needed and did not have. */
      readonly missingLibrary: string | undefined;
      readonly config: 'slim' | 'full';
      readonly log: string | undefined;
    }
  | RefusedOutput;

/** Most characters of a returned VM log: the start for a get-method, the end for a transaction, whose cause of failure comes last. */
export const LOG_CHARACTERS_MAX = 64 * 1024;

export type ThreadData = { readonly program: EmulatorProgram | undefined };

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly program: EmulatorProgram }
  /** `usedMs`: CPU time of the thread. */
  | { readonly kind: 'done'; readonly output: JobOutput; readonly memoryBytes: number; readonly usedMs: number }
  /** Message after a job that could not be run. The thread is unusable. */
  | { readonly kind: 'dead'; readonly error: string };
