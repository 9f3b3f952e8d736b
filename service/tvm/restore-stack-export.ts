import { readExportedBodies } from './wasm-sections.ts';

/**
 * Returns the export name of the function that sets a compiled module's stack pointer. It has one parameter and the body `local.get 0; global.set 0`.
 * The emulator's build shortens names, so the body identifies the function.
 * @param wasm a WebAssembly module in its binary format, version 1
 * @returns undefined when the module has no such export
 */
export function findStackRestore(wasm: Uint8Array): string | undefined {
  return findExport(wasm, SET_STACK_POINTER);
}

/** Returns the export name of the function that returns the stack pointer, by its body `global.get 0`. */
export function findStackSave(wasm: Uint8Array): string | undefined {
  return findExport(wasm, GET_STACK_POINTER);
}

function findExport(wasm: Uint8Array, wanted: Buffer): string | undefined {
  for (const [name, body] of readExportedBodies(wasm)) if (body.equals(wanted)) return name;
  return undefined;
}

/** No locals; local.get 0; global.set 0; end. */
const SET_STACK_POINTER = Buffer.from([0x00, 0x20, 0x00, 0x24, 0x00, 0x0b]);

/** No locals; global.get 0; end. */
const GET_STACK_POINTER = Buffer.from([0x00, 0x23, 0x00, 0x0b]);
