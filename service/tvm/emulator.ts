import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import createModule from '@ton/sandbox/dist/executor/emulator-emscripten.js';
import type { EmulatorModule } from '@ton/sandbox/dist/executor/emulator-emscripten.js';
import { createInvokers, writeInvokers, type StackExports } from './invokers.ts';
import { findStackRestore, findStackSave } from './restore-stack-export.ts';

/** Compiled code of the emulator, transferred from the first thread to later ones. */
export type EmulatorProgram = StackExports & {
  readonly module: WebAssembly.Module;
  /** Module of `writeInvokers`. */
  readonly invokers: WebAssembly.Module;
};

/**
 * Emulator library of the node in this thread. Its functions take and return strings. They throw EmulatorFault; after that the emulator is unusable
 * and must be replaced.
 */
export type Emulator = {
  /** Copies a string into the emulator's memory, where it stays until `release`. */
  keep(text: string): number;
  release(pointer: number): void;
  /** Runs a get-method with a config in the emulator's memory. */
  runGetMethod(params: string, stack: string, config: number): string;
  /**
   * Creates a transaction emulator with a config in the emulator's memory. Verbosity 1 logs each instruction, 3 also the gas left after
   * the instruction.
   */
  createTransactions(config: number, verbosity: 0 | 1 | 3): number;
  destroyTransactions(transactions: number): void;
  /** An empty text of libraries, and parameters without previous blocks, leave those of the run before in force. */
  runTransaction(
    transactions: number,
    libraries: string,
    shardAccount: string,
    message: string,
    params: string,
  ): string;
  /** Returns the size of the emulator's memory. It grows with the largest call and never shrinks. */
  memoryBytes(): number;
};

/** JSON answers of the emulator's functions. */
export type EmulatorAnswer = {
  readonly output?: {
    readonly success: boolean;
    readonly error?: string;
    readonly vm_log?: string;
    readonly vm_exit_code?: number;
    readonly gas_used?: string;
    readonly stack?: string;
    readonly missing_library?: string | null;
    readonly transaction?: string;
    readonly shard_account?: string;
    readonly actions?: string | null;
  };
  readonly message?: string;
};

/**
 * Error for a call that the emulator ended without an answer.
 * - `exception`: its C++ code threw an exception that it does not catch, for example for unreadable cells.
 * - `trap`: a fault of WebAssembly.
 */
export class EmulatorFault extends Error {
  readonly kind: 'exception' | 'trap';

  constructor(cause: unknown) {
    // An exception of C++ arrives as its address. Its text stays in the emulator's memory.
    const kind = typeof cause === 'number' ? 'exception' : 'trap';
    super(kind === 'exception' ? 'the emulator threw an exception' : `the emulator trapped: ${String(cause)}`, {
      cause,
    });
    this.name = 'EmulatorFault';
    this.kind = kind;
  }
}

/**
 * Bytes of the emulator's stack. Its build has 64 KiB, which serializing a list of some 300 elements overruns. This stack is on the heap, large
 * enough for the deepest stack in a BoC.
 */
const STACK_BYTES = 8 * 1024 * 1024;
const STACK_ALIGNMENT = 16;

/** File of the emulator: `module.exports = { EmulatorEmscriptenWasm: '…' }` with base64. */
const EMULATOR_FILE = '@ton/sandbox/dist/executor/emulator-emscripten.wasm.js';

/**
 * Compiles the emulator: 60 ms, once in a process. The file is read as bytes: a module stays in memory, with its source 13 MB. In the bundle
 * it would be a part of each program.
 */
export async function compileEmulator(): Promise<EmulatorProgram> {
  const file = await readFile(createRequire(import.meta.url).resolve(EMULATOR_FILE));
  const wasm = bytesOfBase64(file.subarray(file.indexOf("'") + 1, file.lastIndexOf("'")));
  const stackRestore = findStackRestore(wasm);
  const stackSave = findStackSave(wasm);
  if (stackRestore === undefined || stackSave === undefined) {
    throw new Error('the emulator exports no functions for its stack pointer');
  }
  const [module, invokers] = await Promise.all([WebAssembly.compile(wasm), WebAssembly.compile(writeInvokers(wasm))]);
  return { module, invokers, stackSave, stackRestore };
}

/** Letters of base64 that are decoded at once: a multiple of four. */
const BASE64_LETTERS = 65_536;

/** Decodes in parts. The text as one string would fill 13 MB of the thread's heap, whose old part is seldom collected. */
function bytesOfBase64(text: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.floor((text.length / 4) * 3));
  let end = 0;
  for (let at = 0; at < text.length; at += BASE64_LETTERS) {
    end += bytes.write(text.toString('latin1', at, at + BASE64_LETTERS), end, 'base64');
  }
  return bytes.subarray(0, end);
}

/** Starts the emulator: 10 ms. */
export async function createEmulator(program: EmulatorProgram): Promise<Emulator> {
  const { module, stackRestore } = program;
  const invokers = createInvokers(program.invokers);
  let exports: WebAssembly.Exports = {};
  const emulator = await createModule({
    instantiateWasm(imports, receive) {
      if (invokers.replace(imports) === 0) throw new Error('the emulator imports no invokers');
      const instance = new WebAssembly.Instance(module, imports);
      exports = instance.exports;
      invokers.link(exports, program);
      receive(instance, module);
      return exports;
    },
    print: ignore,
    printErr: ignore,
  });
  const { _malloc: allocate } = emulator;
  const stack = allocate(STACK_BYTES);
  const setStackPointer = exports[stackRestore] as (pointer: number) => void;
  setStackPointer((stack + STACK_BYTES) & -STACK_ALIGNMENT);
  return wrap(
    emulator,
    Object.values(exports).find((one) => one instanceof WebAssembly.Memory)!,
  );
}

function wrap(emulator: EmulatorModule, memory: WebAssembly.Memory): Emulator {
  const { _malloc: allocate, _free: release, UTF8ToString: readText } = emulator;
  const { _create_emulator: create, _destroy_emulator: destroy, _emulate_with_emulator: emulate } = emulator;
  const { _run_get_method: runGetMethod } = emulator;

  function keep(text: string): number {
    const pointer = allocate(text.length + 1);
    const bytes = Buffer.from(memory.buffer, pointer, text.length + 1);
    bytes.write(text, 'latin1');
    bytes[text.length] = 0;
    return pointer;
  }

  function call(texts: readonly string[], run: (...pointers: number[]) => number): string {
    try {
      const pointers = texts.map(keep);
      const result = run(...pointers);
      const text = readText(result);
      for (const pointer of [result, ...pointers]) release(pointer);
      return text;
    } catch (error) {
      throw new EmulatorFault(error);
    }
  }

  return {
    keep,
    release,
    runGetMethod: (params, stack, config) =>
      call([params, stack], (...[paramsAt, stackAt]) => runGetMethod(paramsAt!, stackAt!, config)),
    createTransactions: (config, verbosity) => create(config, verbosity),
    destroyTransactions: destroy,
    runTransaction: (transactions, libraries, ...texts) =>
      call([...texts, libraries], (...[account, message, params, librariesAt]) =>
        emulate(transactions, libraries === '' ? 0 : librariesAt!, account!, message!, params!),
      ),
    memoryBytes: () => memory.buffer.byteLength,
  };
}

function ignore(): void {}
