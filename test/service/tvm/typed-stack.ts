import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { StackCell, StackEntry } from '#service/tvm/stack.ts';
import { cellOfSlice, sliceEntry } from '#service/tvm/stack.ts';

/** Entry in the form recorded from the reference client's library. */
export type TypedEntry =
  | { '@type': 'tvm.stackEntryNumber'; number: { '@type': 'tvm.numberDecimal'; number: string } }
  | { '@type': 'tvm.stackEntryCell'; cell: { '@type': 'tvm.cell'; bytes: string } }
  | { '@type': 'tvm.stackEntrySlice'; slice: { '@type': 'tvm.slice'; bytes: string } }
  | { '@type': 'tvm.stackEntryTuple'; tuple: { '@type': 'tvm.tuple'; elements: TypedEntry[] } }
  | { '@type': 'tvm.stackEntryList'; list: { '@type': 'tvm.list'; elements: TypedEntry[] } }
  | { '@type': 'tvm.stackEntryUnsupported' };

/** Reads a recorded entry; a list becomes pairs. */
export function readTyped(entry: TypedEntry): StackEntry {
  switch (entry['@type']) {
    case 'tvm.stackEntryNumber':
      return { type: 'int', value: BigInt(entry.number.number) };
    case 'tvm.stackEntryCell':
      return { type: 'cell', ...readCell(entry.cell.bytes) };
    case 'tvm.stackEntrySlice':
      return sliceEntry(readCell(entry.slice.bytes));
    case 'tvm.stackEntryTuple':
      return { type: 'tuple', items: entry.tuple.elements.map(readTyped) };
    case 'tvm.stackEntryList':
      return entry.list.elements
        .map(readTyped)
        .reduceRight<StackEntry>((tail, head) => ({ type: 'tuple', items: [head, tail] }), { type: 'null' });
    default:
      throw new Error(`no argument can be ${entry['@type']}`);
  }
}

/** Writes an entry in the recorded form: pairs that end with null are a list. */
export function writeTyped(entry: StackEntry): TypedEntry {
  const elements = listElements(entry);
  if (elements !== undefined) {
    return { '@type': 'tvm.stackEntryList', list: { '@type': 'tvm.list', elements: elements.map(writeTyped) } };
  }
  switch (entry.type) {
    case 'int':
      return {
        '@type': 'tvm.stackEntryNumber',
        number: { '@type': 'tvm.numberDecimal', number: entry.value.toString() },
      };
    case 'cell':
      return { '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes: writeCell(entry) } };
    case 'slice':
      return { '@type': 'tvm.stackEntrySlice', slice: { '@type': 'tvm.slice', bytes: writeCell(cellOfSlice(entry)) } };
    case 'tuple':
      return {
        '@type': 'tvm.stackEntryTuple',
        tuple: { '@type': 'tvm.tuple', elements: entry.items.map(writeTyped) },
      };
    default:
      return { '@type': 'tvm.stackEntryUnsupported' };
  }
}

function listElements(entry: StackEntry): StackEntry[] | undefined {
  const elements: StackEntry[] = [];
  for (let rest = entry; ; rest = rest.items[1]!) {
    if (rest.type === 'null') return elements;
    if (rest.type !== 'tuple' || rest.items.length !== 2) return undefined;
    elements.push(rest.items[0]!);
  }
}

function readCell(base64: string): StackCell {
  const boc = parseBoc(Buffer.from(base64, 'base64'));
  return { table: boc, cell: boc.roots[0]! };
}

function writeCell({ table, cell }: StackCell): string {
  return writeBoc(table, [cell], { crc32c: true }).toString('base64');
}
