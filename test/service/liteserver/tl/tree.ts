import { TlReader } from '#service/liteserver/tl/reader.ts';
import { TlWriter } from '#service/liteserver/tl/writer.ts';
import * as consensus from '#service/liteserver/tl/consensus.ts';
import * as liteApi from '#service/liteserver/tl/lite-api.ts';
import * as tonNode from '#service/liteserver/tl/ton-node.ts';

/** TL value as the declarations of its types describe it. It may be changed in place and written again. */
export type TlNode =
  | { readonly kind: 'int'; value: number }
  | { readonly kind: 'long'; value: bigint }
  | { readonly kind: 'bool'; value: boolean }
  | { readonly kind: 'int256'; value: Buffer }
  | { readonly kind: 'bytes'; value: Buffer }
  | { readonly kind: 'vector'; readonly element: string; value: TlNode[] }
  | { readonly kind: 'record'; readonly type: string; value: TlRecordValue };

/** Fields in the order of the declaration; undefined for a field that the mode leaves out. */
export type TlRecordValue = { readonly constructor: Constructor; readonly fields: (TlNode | undefined)[] };

type Field = { readonly name: string; readonly type: string; readonly modeBit: number | undefined };
export type Constructor = {
  readonly name: string;
  readonly id: number;
  readonly result: string;
  readonly fields: readonly Field[];
};

const [TRUE, FALSE] = [0x997275b5, 0xbc799737];

const constructors: readonly Constructor[] = [liteApi, tonNode, consensus]
  .flatMap((module) => Object.values(module as Record<string, unknown>))
  .flatMap(recordsOf)
  .map(({ declaration, id }) => ({ ...parse(declaration), id }));

const byName = new Map(constructors.map((one) => [one.name, one]));
const byResult = Map.groupBy(constructors, ({ result }) => result);

type Declared = { readonly declaration: string; readonly id: number };

/** Returns records and the variants of unions among a module's exports. */
function recordsOf(value: unknown): Declared[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('declaration' in value) return [value as Declared];
  return 'variants' in value ? Object.values(value.variants as Record<string, Declared>) : [];
}

/** `name field:type field:mode.N?vector type = Result`. */
function parse(declaration: string): Omit<Constructor, 'id'> {
  const [left = '', result = ''] = declaration.split(' = ');
  const [name = ''] = left.split(' ');
  const fields = [...left.matchAll(/ (\w+):(?:mode\.(\d+)\?)?((?:vector )*[\w.#]+)/g)].map(
    ([, field = '', bit, type = '']) => ({ name: field, type, modeBit: bit === undefined ? undefined : Number(bit) }),
  );
  return { name, result, fields };
}

/** Reads the value of a boxed answer, by its declared type. @throws TlError */
export function readTree(answer: Buffer): TlNode {
  const id = answer.readUInt32LE(0);
  const found = constructors.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no constructor has the id ${id.toString(16)}`);
  const reader = new TlReader(answer);
  const tree = readNode(reader, found.result);
  reader.end(found.name);
  return tree;
}

/** Returns the bytes of a boxed answer. */
export function writeTree(tree: TlNode): Buffer {
  const writer = new TlWriter();
  writeNode(writer, tree);
  return writer.finish();
}

function readNode(reader: TlReader, type: string): TlNode {
  if (type.startsWith('vector ')) {
    const element = type.slice('vector '.length);
    return { kind: 'vector', element, value: Array.from({ length: reader.uint32() }, () => readNode(reader, element)) };
  }
  switch (type) {
    case 'int':
    case '#':
      return { kind: 'int', value: reader.uint32() };
    case 'long':
      return { kind: 'long', value: reader.uint64() };
    case 'int256':
      return { kind: 'int256', value: reader.raw(32) };
    case 'bytes':
    case 'string':
      return { kind: 'bytes', value: reader.byteString() };
    case 'Bool':
      return { kind: 'bool', value: reader.uint32() === TRUE };
    default:
      return readRecord(reader, type);
  }
}

function readRecord(reader: TlReader, type: string): TlNode {
  const bare = byName.get(type);
  const id = bare === undefined ? reader.uint32() : undefined;
  const constructor = bare ?? byResult.get(type)?.find((one) => one.id === id);
  if (constructor === undefined) throw new Error(`no constructor of ${type} has the id ${id}`);
  const fields: (TlNode | undefined)[] = [];
  for (const { type: fieldType, modeBit } of constructor.fields) {
    const isThere = modeBit === undefined || hasMode(constructor, fields, modeBit);
    const isFlag = fieldType === 'true';
    fields.push(isThere && !isFlag ? readNode(reader, fieldType) : undefined);
  }
  return { kind: 'record', type, value: { constructor, fields } };
}

function hasMode({ fields: declared }: Constructor, fields: readonly (TlNode | undefined)[], bit: number): boolean {
  const mode = fields[declared.findIndex(({ name }) => name === 'mode')];
  return mode?.kind === 'int' && (mode.value & (1 << bit)) !== 0;
}

/** Writes a node. A missing field that the mode announces is written as the least value of its type. */
function writeNode(writer: TlWriter, node: TlNode): void {
  switch (node.kind) {
    case 'int':
      return writer.uint32(node.value);
    case 'long':
      return writer.uint64(node.value);
    case 'int256':
      return writer.raw(node.value, 32);
    case 'bytes':
      return writer.byteString(node.value);
    case 'bool':
      return writer.uint32(node.value ? TRUE : FALSE);
    case 'vector':
      writer.uint32(node.value.length);
      for (const item of node.value) writeNode(writer, item);
      return;
    case 'record':
      return writeRecord(writer, node.type, node.value);
  }
}

function writeRecord(writer: TlWriter, type: string, { constructor, fields }: TlRecordValue): void {
  if (!byName.has(type)) writer.uint32(constructor.id);
  constructor.fields.forEach(({ type: fieldType, modeBit }, index) => {
    if (fieldType === 'true' || (modeBit !== undefined && !hasMode(constructor, fields, modeBit))) return;
    writeNode(writer, fields[index] ?? leastOf(fieldType));
  });
}

/** Returns the least value: all zeros, with empty lists and byte strings. */
function leastOf(type: string): TlNode {
  return readNode(new TlReader(Buffer.alloc(1024)), type);
}

/** Returns every node of a tree, the root first. */
export function nodesOf(tree: TlNode): TlNode[] {
  const children =
    tree.kind === 'vector'
      ? tree.value
      : tree.kind === 'record'
        ? tree.value.fields.filter((one) => one !== undefined)
        : [];
  return [tree, ...children.flatMap(nodesOf)];
}
