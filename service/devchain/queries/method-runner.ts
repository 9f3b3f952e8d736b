import { writeBocText } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { Emulator, EmulatorProgram } from '#service/tvm/emulator.ts';
import { compileEmulator, createEmulator } from '#service/tvm/emulator.ts';
import { encodeStack } from '#service/tvm/stack-writer.ts';

/** Runs get-methods for lite servers in its own emulator, which starts with the first method. */
export type MethodRunner = {
  /** Resolves when the emulator runs. */
  ready(): Promise<void>;
  /** Must be ready. Throws Error when the emulator refuses its input, or has to be replaced before the next run. */
  run(call: MethodCall): MethodResult;
};

/** A get-method of an account in a state. Cells are in `states`. */
export type MethodCall = {
  readonly states: CellStore;
  readonly config: number;
  readonly libraries: number | undefined;
  readonly code: number;
  readonly data: number | undefined;
  readonly workchain: number;
  readonly id: Buffer;
  /** Nanotons. */
  readonly balance: bigint;
  readonly utime: number;
  readonly randSeed: Buffer;
  /** Method id of the caller, signed 32 bits or more. */
  readonly methodId: bigint;
  /** A bag of cells of `VmStack`; empty for no arguments. */
  readonly params: Buffer;
  readonly previousBlocks: string;
};

export type MethodResult = { readonly exitCode: number; readonly stack: Buffer };

/** Gas limit of the node's lite server. */
const GAS_LIMIT = 300_000;

const NO_ARGUMENTS = encodeStack([]).toString('base64');
const EMPTY_CELL = 'te6ccgEBAQEAAgAAAA==';

type Answer = {
  readonly output?: {
    readonly success: boolean;
    readonly error?: string;
    readonly vm_exit_code?: number;
    readonly stack?: string;
  };
  readonly message?: string;
};

export function createMethodRunner(): MethodRunner {
  let program: Promise<EmulatorProgram> | undefined;
  let starting: Promise<Emulator> | undefined;
  let emulator: Emulator | undefined;
  let cached: { readonly hash: string; readonly pointer: number } | undefined;

  function keepConfig(states: CellStore, config: number): number {
    const hash = states.hash(config).toString('latin1');
    if (cached?.hash !== hash) {
      if (cached !== undefined) emulator!.release(cached.pointer);
      cached = { hash, pointer: emulator!.keep(writeBocText(states, [config])) };
    }
    return cached.pointer;
  }

  /** An emulator that ended a call without an answer is replaced. */
  function runInEmulator(params: object, stack: string, config: number): string {
    try {
      return emulator!.runGetMethod(JSON.stringify(params), stack, config);
    } catch (error) {
      starting = undefined;
      cached = undefined;
      throw error;
    }
  }

  return {
    async ready() {
      program ??= compileEmulator();
      starting ??= program.then(createEmulator);
      emulator = await starting;
    },
    run(call) {
      const { states, data, libraries } = call;
      const text = (cell: number): string => writeBocText(states, [cell]);
      const params = {
        code: text(call.code),
        data: data === undefined ? EMPTY_CELL : text(data),
        verbosity: 0,
        libs: libraries === undefined ? '' : text(libraries),
        address: `${call.workchain}:${call.id.toString('hex')}`,
        unixtime: call.utime,
        balance: call.balance.toString(),
        gas_limit: String(GAS_LIMIT),
        method_id: Number(BigInt.asIntN(32, call.methodId)),
        rand_seed: call.randSeed.toString('hex'),
        debug_enabled: false,
        prev_blocks_info: call.previousBlocks,
      };
      const stack = call.params.length === 0 ? NO_ARGUMENTS : call.params.toString('base64');
      const answer = runInEmulator(params, stack, keepConfig(states, call.config));
      const { output, message } = JSON.parse(answer) as Answer;
      if (output?.success !== true) throw new Error(output?.error ?? message ?? 'no output');
      return { exitCode: output.vm_exit_code!, stack: Buffer.from(output.stack!, 'base64') };
    },
  };
}
