// Part of WebAssembly's interface in use. Node's types leave it to the browser's library.
declare namespace WebAssembly {
  type Exports = Record<string, unknown>;
  type Imports = Record<string, Record<string, unknown>>;
  class Module {
    constructor(wasm: Uint8Array);
    private readonly compiled;
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Exports;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Table {
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value: unknown): void;
    grow(by: number): number;
  }
  /** Stands for whatever JavaScript throws. */
  const JSTag: object;
  function compile(wasm: Uint8Array): Promise<Module>;
}

// Two files of @ton/sandbox without types: the emulator's loader, and its WebAssembly binary in base64.

declare module '@ton/sandbox/dist/executor/emulator-emscripten.js' {
  /** The C functions of the node's emulator library; strings are pointers to bytes that end with 0. */
  export type EmulatorModule = {
    readonly _malloc: (bytes: number) => number;
    readonly _free: (pointer: number) => void;
    readonly _run_get_method: (params: number, stack: number, config: number) => number;
    readonly _create_emulator: (config: number, verbosity: number) => number;
    readonly _destroy_emulator: (emulator: number) => void;
    readonly _emulate_with_emulator: (
      emulator: number,
      libraries: number,
      shardAccount: number,
      message: number,
      params: number,
    ) => number;
    readonly UTF8ToString: (pointer: number) => string;
  };

  export type EmulatorOptions = {
    /** Replaces the loading: calls `receive` with an instance of the module. Returns an empty object, because loading is asynchronous. */
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): object;
    readonly print: (text: string) => void;
    readonly printErr: (text: string) => void;
  };

  const createModule: (options: EmulatorOptions) => Promise<EmulatorModule>;
  export default createModule;
}
