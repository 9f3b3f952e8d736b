/**
 * Returns the export name of the function that sets a compiled module's stack pointer. It has one parameter and the body `local.get 0; global.set 0`.
 * The emulator's build shortens names, so the body identifies the function.
 * @param wasm a WebAssembly module in its binary format, version 1
 * @returns undefined when the module has no such export
 */
export function findStackRestore(wasm: Uint8Array): string | undefined {
  const sections = readSections(wasm);
  const importedFunctions = countImportedFunctions(sections.get(IMPORTS));
  const bodies = readBodies(sections.get(CODE));
  return readFunctionExports(sections.get(EXPORTS)).find(({ index }) => {
    const body = bodies[index - importedFunctions];
    return body !== undefined && Buffer.from(body).equals(SET_STACK_POINTER);
  })?.name;
}

/** No locals; local.get 0; global.set 0; end. */
const SET_STACK_POINTER = Buffer.from([0x00, 0x20, 0x00, 0x24, 0x00, 0x0b]);

const [IMPORTS, EXPORTS, CODE] = [2, 7, 10];
const HEADER_BYTES = 8;

type Reader = { readonly bytes: Uint8Array; at: number };

function readSections(wasm: Uint8Array): Map<number, Uint8Array> {
  const reader: Reader = { bytes: wasm, at: HEADER_BYTES };
  const sections = new Map<number, Uint8Array>();
  while (reader.at < wasm.length) {
    const id = wasm[reader.at++]!;
    sections.set(id, readVector(reader));
  }
  return sections;
}

/** LEB128, unsigned 32 bits. */
function readNumber(reader: Reader): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.bytes[reader.at++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value >>> 0;
}

function readVector(reader: Reader): Uint8Array {
  const length = readNumber(reader);
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

function readEach<T>(section: Uint8Array | undefined, read: (reader: Reader) => T): T[] {
  if (section === undefined) return [];
  const reader: Reader = { bytes: section, at: 0 };
  return Array.from({ length: readNumber(reader) }, () => read(reader));
}

/** Counts imported functions (kind 0), which precede the module's own functions in the numbering. */
function countImportedFunctions(section: Uint8Array | undefined): number {
  return readEach(section, (reader) => {
    readVector(reader);
    readVector(reader);
    const kind = reader.bytes[reader.at++]!;
    skipImportType(reader, kind);
    return kind;
  }).filter((kind) => kind === 0).length;
}

/**
 * Skips the type of an import. A function has a type index, a table an element type and limits, a memory limits. A global has a type and mutability,
 * a tag its own type.
 */
function skipImportType(reader: Reader, kind: number): void {
  if (kind === 0) readNumber(reader);
  else if (kind === 3) reader.at += 2;
  else if (kind === 4) {
    reader.at++;
    readNumber(reader);
  } else {
    if (kind === 1) reader.at++;
    const hasMaximum = (reader.bytes[reader.at++]! & 1) === 1;
    readNumber(reader);
    if (hasMaximum) readNumber(reader);
  }
}

function readFunctionExports(section: Uint8Array | undefined): { name: string; index: number }[] {
  return readEach(section, (reader) => {
    const name = Buffer.from(readVector(reader)).toString();
    const kind = reader.bytes[reader.at++]!;
    return { name, kind, index: readNumber(reader) };
  }).filter(({ kind }) => kind === 0);
}

function readBodies(section: Uint8Array | undefined): Uint8Array[] {
  return readEach(section, readVector);
}
