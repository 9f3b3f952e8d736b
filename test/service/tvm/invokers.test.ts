import { beforeEach, describe, expect, it } from 'vitest';

import { createInvokers, writeInvokers } from '#service/tvm/invokers.ts';
import { findStackRestore, findStackSave } from '#service/tvm/restore-stack-export.ts';

// A module as the emulator's build makes it: `run(value)` calls the import `invoke` with the index 1, where the table has the import `body`.
const wasm = Buffer.from(
  [
    '0061736d01000000',
    // Types: (i32) -> i32, () -> i32, (i32) -> (), (i32, i32) -> i32.
    '01140460017f017f6000017f60017f0060027f7f017f',
    // Imports: `a.invoke` of the last type, `a.body` of the first.
    '021502016106696e766f6b650003016104626f64790000',
    '030403010200',
    // A table of two functions, and a stack pointer of 100.
    '040401700002',
    '0607017f0141e4000b',
    // Exports: the table `t`, `get` and `set` of the stack pointer, `run`.
    '071704017401000367657400020373657400030372756e0004',
    '0907010041010b0101',
    '0a1603040023000b0600200024000b08004101200010000b',
  ].join(''),
  'hex',
);

type Exports = {
  readonly t: WebAssembly.Table;
  readonly get: () => number;
  readonly set: (pointer: number) => void;
  readonly run: (value: number) => number;
};

let exports: Exports;
let replaced: number;
let body: (value: number) => number;
let noted: number;

/** In the form of the emulator's JavaScript. */
function invoke(index: number, value: number): number | undefined {
  try {
    return (exports.t.get(index) as typeof body)(value);
  } catch (e) {
    // @ts-expect-error -- the service knows an invoker by this text
    if (e !== e + 0) throw e;
    noted++;
    return undefined;
  }
}

/** Not an invoker, though its type is that of an invoker. */
const other = (index: number, value: number): number => index + value;

const invokerModule = new WebAssembly.Module(writeInvokers(wasm));

beforeEach(() => {
  noted = 0;
  const invokers = createInvokers(invokerModule);
  const imports = { a: { invoke, body: (value: number) => body(value) } };
  replaced = invokers.replace(imports);
  const { exports: found } = new WebAssembly.Instance(new WebAssembly.Module(wasm), imports);
  invokers.link(found, { stackSave: findStackSave(wasm)!, stackRestore: findStackRestore(wasm)! });
  exports = found as Exports;
});

describe('an invoker in WebAssembly', () => {
  it('replaces an import that catches exceptions, and no other import of its type', () => {
    expect([replaced, createInvokers(invokerModule).replace({ a: { invoke: other } })]).toEqual([1, 0]);
  });

  it('returns what the function of the table returns', () => {
    body = (value) => value + 1;
    expect([exports.run(41), noted]).toEqual([42, 0]);
  });

  it('notes an exception of C++, restores the stack pointer and returns 0', () => {
    body = () => {
      exports.set(36);
      // oxlint-disable-next-line no-throw-literal -- an exception of C++ arrives as its address
      throw 4096;
    };
    expect([exports.run(1), noted, exports.get()]).toEqual([0, 1, 100]);
  });

  it('lets an error of JavaScript pass', () => {
    body = () => {
      throw new RangeError('of the test');
    };
    expect(() => exports.run(1)).toThrow(RangeError);
    expect(noted).toBe(0);
  });
});
