/** Type of a function: codes of value types. */
export type FunctionType = { readonly parameters: readonly number[]; readonly results: readonly number[] };

const [TYPES, IMPORTS, EXPORTS, CODE] = [1, 2, 7, 10];
const HEADER_BYTES = 8;

type Reader = { readonly bytes: Uint8Array; at: number };

/** Functions that a module imports, named `module name`, in their order. */
export function readImportedFunctions(wasm: Uint8Array): { readonly name: string; readonly type: FunctionType }[] {
  const sections = readSections(wasm);
  const types = readEach(sections.get(TYPES), readType);
  return readImports(sections.get(IMPORTS)).map(({ name, type }) => ({ name, type: types[type]! }));
}

/** Bodies of exported functions by the name of the export. */
export function readExportedBodies(wasm: Uint8Array): ReadonlyMap<string, Buffer> {
  const sections = readSections(wasm);
  const imported = readImports(sections.get(IMPORTS)).length;
  const bodies = readEach(sections.get(CODE), readVector);
  const found = new Map<string, Buffer>();
  for (const { name, index } of readFunctionExports(sections.get(EXPORTS))) {
    const body = bodies[index - imported];
    if (body !== undefined) found.set(name, Buffer.from(body));
  }
  return found;
}

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

function readType(reader: Reader): FunctionType {
  reader.at++;
  return { parameters: [...readVector(reader)], results: [...readVector(reader)] };
}

/** Reads imported functions (kind 0), which precede the module's own functions in the numbering. */
function readImports(section: Uint8Array | undefined): { readonly name: string; readonly type: number }[] {
  return readEach(section, (reader) => {
    const name = `${Buffer.from(readVector(reader)).toString()} ${Buffer.from(readVector(reader)).toString()}`;
    const kind = reader.bytes[reader.at++]!;
    return { name, kind, type: readImportType(reader, kind) };
  }).filter(({ kind }) => kind === 0);
}

/**
 * Reads the type index of an imported function, and skips the type of another import. A table has an element type and limits, a memory limits.
 * A global has a type and mutability, a tag its own type.
 */
function readImportType(reader: Reader, kind: number): number {
  if (kind === 0) return readNumber(reader);
  if (kind === 3) reader.at += 2;
  else if (kind === 4) {
    reader.at++;
    readNumber(reader);
  } else {
    if (kind === 1) reader.at++;
    const hasMaximum = (reader.bytes[reader.at++]! & 1) === 1;
    readNumber(reader);
    if (hasMaximum) readNumber(reader);
  }
  return 0;
}

function readFunctionExports(section: Uint8Array | undefined): { name: string; index: number }[] {
  return readEach(section, (reader) => {
    const name = Buffer.from(readVector(reader)).toString();
    const kind = reader.bytes[reader.at++]!;
    return { name, kind, index: readNumber(reader) };
  }).filter(({ kind }) => kind === 0);
}
