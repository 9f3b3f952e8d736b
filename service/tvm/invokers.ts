import { readImportedFunctions, type FunctionType } from './wasm-sections.ts';

/**
 * Invokers: functions that call a function of the emulator's table and catch what it throws. The emulator's build has invokers in JavaScript
 * (`invoke_…`), and calls one wherever C++ code may throw. Invokers in WebAssembly save a fifth of a run.
 */
export type Invokers = {
  /** Replaces the invokers among the imports. Returns how many it replaced. */
  replace(imports: WebAssembly.Imports): number;
  /** Links the functions that the invokers call. Called once, before the first run of the emulator, which never changes its table. */
  link(exports: WebAssembly.Exports, names: StackExports): void;
};

/** Names of exports that return and set the stack pointer. */
export type StackExports = { readonly stackSave: string; readonly stackRestore: string };

/**
 * Writes a module with an invoker for each imported function that may be one: its first parameter is an index of the table. The exports are named
 * by import and number.
 * @param wasm the emulator's module in its binary format
 */
export function writeInvokers(wasm: Uint8Array): Buffer {
  const candidates = readImportedFunctions(wasm).filter(({ type }) => type.parameters[0] === I32);
  const types = [
    { parameters: [], results: [I32] },
    { parameters: [I32], results: [] },
    { parameters: [EXTERN], results: [] },
  ].map(writeType);
  const functions = candidates.map(({ name, type }, nth) => {
    const called = types.push(writeType({ ...type, parameters: type.parameters.slice(1) })) - 1;
    const own = types.push(writeType(type)) - 1;
    return { name, type, called, own, nth };
  });
  return Buffer.concat([
    Buffer.from('0061736d01000000', 'hex'),
    section(1, types),
    section(2, [
      Buffer.concat([text('js'), text('tag'), Buffer.from([4, 0, THROW_TYPE])]),
      Buffer.concat([text('js'), text('threw'), Buffer.from([0, THROW_TYPE])]),
    ]),
    section(
      3,
      functions.map(({ own }) => number(own)),
    ),
    section(4, [Buffer.from([FUNCREF, 0, 0]), Buffer.from([FUNCREF, 0, 2])]),
    section(7, [
      Buffer.concat([text(TABLE), Buffer.from([1, 0])]),
      Buffer.concat([text(STACK), Buffer.from([1, 1])]),
      ...functions.map(({ name, nth }) => Buffer.concat([text(name), Buffer.from([0]), number(nth + 1)])),
    ]),
    section(
      10,
      functions.map(({ type, called }) => sized(writeBody(type, called))),
    ),
  ]);
}

const [I32, I64, F32, F64, EXTERN, FUNCREF] = [0x7f, 0x7e, 0x7d, 0x7c, 0x6f, 0x70];
const VOID = 0x40;

/** Exports of the module: the table, and the two functions of the stack pointer. Names of imports are `module name`. */
const [TABLE, STACK] = ['table', 'stack'];

/** Instructions in use. */
const op = {
  block: 0x02,
  end: 0x0b,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  tryTable: 0x1f,
  localGet: 0x20,
  localSet: 0x21,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
} as const;

/** Indices of types, of the tables, and of functions in the second table. */
const [SAVE_TYPE, RESTORE_TYPE, THROW_TYPE] = [0, 1, 2];
const [FUNCTIONS, POINTER] = [0, 1];
const [SAVE, RESTORE] = [0, 1];

/**
 * `sp = stackSave(); try { return table[index](...) } catch (error) { stackRestore(sp); threw(error); return 0 }`.
 * @param called type of the function in the table
 */
function writeBody({ parameters, results }: FunctionType, called: number): Buffer {
  const [sp] = number(parameters.length);
  const [result] = results;
  const get = (local: number): readonly number[] => [op.localGet, ...number(local)];
  const parts: readonly (readonly number[])[] = [
    [1, 1, I32],
    [op.i32Const, SAVE, op.callIndirect, SAVE_TYPE, POINTER, op.localSet, sp!],
    // A single clause catches what JavaScript throws, and leaves to the end of the block.
    [op.block, EXTERN, op.tryTable, result ?? VOID, 1, 0, 0, 0],
    ...parameters.slice(1).map((_, at) => get(at + 1)),
    get(0),
    [op.callIndirect, ...number(called), FUNCTIONS, op.end, op.return, op.end],
    get(parameters.length),
    [op.i32Const, RESTORE, op.callIndirect, RESTORE_TYPE, POINTER, op.call, 0],
    result === undefined ? [] : zero(result),
    [op.end],
  ];
  return Buffer.from(parts.flat());
}

function zero(type: number): readonly number[] {
  if (type === F32) return [op.f32Const, 0, 0, 0, 0];
  if (type === F64) return [op.f64Const, 0, 0, 0, 0, 0, 0, 0, 0];
  return [type === I64 ? op.i64Const : op.i32Const, 0];
}

function writeType({ parameters, results }: FunctionType): Buffer {
  return Buffer.from([0x60, parameters.length, ...parameters, results.length, ...results]);
}

function section(id: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([id]), sized(Buffer.concat([number(items.length), ...items]))]);
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([number(bytes.length), bytes]);
}

function text(value: string): Buffer {
  return sized(Buffer.from(value));
}

/** LEB128, unsigned. */
function number(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  do {
    bytes.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>>= 7;
  } while (left > 0);
  return Buffer.from(bytes);
}

/**
 * Module whose function copies a table: `i32.const 0; i32.const 0; table.size from; table.copy to from`. JavaScript would make an object
 * of each of the 9,500 functions.
 */
const copier = Buffer.from(
  [
    '0061736d01000000',
    '010401600000',
    '021702026a730466726f6d01700000',
    '026a7302746f01700000',
    '03020100',
    '07080104636f70790000',
    '0a0f010d0041004100fc1000fc0e01000b',
  ].join(''),
  'hex',
);

/** An invoker in JavaScript, whose source may be minified: it throws again what is no number. */
const invokerSource = /catch\s*\(([\w$]+)\)\s*\{.*\1\s*!==\s*\1\s*\+\s*0\)\s*throw \1/s;

/** Index of the table whose function throws. */
const THROWING = -1;

/** @param module of `writeInvokers` */
export function createInvokers(module: WebAssembly.Module): Invokers {
  let noteException: (() => unknown) | undefined;
  const threw = (error: unknown): void => {
    if (typeof error !== 'number') throw error;
    noteException?.();
  };
  const instance = new WebAssembly.Instance(module, { js: { tag: WebAssembly.JSTag, threw } });
  const { [TABLE]: own, [STACK]: pointer, ...invokers } = instance.exports as Record<string, WebAssembly.Table>;

  return {
    replace(imports) {
      let replaced = 0;
      for (const [from, group] of Object.entries(imports)) {
        for (const [name, given] of Object.entries(group)) {
          const invoker = invokers[`${from} ${name}`];
          if (invoker === undefined || typeof given !== 'function' || !invokerSource.test(given.toString())) continue;
          // Only the emulator's JavaScript can note an exception for the emulator. It does so for an index whose function throws.
          noteException = () => (given as (index: number) => unknown)(THROWING);
          group[name] = invoker;
          replaced++;
        }
      }
      return replaced;
    },
    link(exports, { stackSave, stackRestore }) {
      const table = Object.values(exports).find((one) => one instanceof WebAssembly.Table)!;
      own!.grow(table.length);
      const { exports: copying } = new WebAssembly.Instance(new WebAssembly.Module(copier), {
        js: { from: table, to: own },
      });
      (copying['copy'] as () => void)();
      pointer!.set(0, exports[stackSave]);
      pointer!.set(1, exports[stackRestore]);
      const look = table.get.bind(table);
      const get = (index: number): unknown => (index === THROWING ? throwAddress : look(index));
      Object.defineProperty(table, 'get', { value: get });
    },
  };
}

/** Throws as C++ does: the address of an exception. */
function throwAddress(): never {
  // oxlint-disable-next-line no-throw-literal -- the emulator's JavaScript takes numbers for exceptions of C++
  throw 1;
}
