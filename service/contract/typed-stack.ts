import type { StackEntry } from '../tvm/stack.ts';
import { invalid, type ContractError } from './errors.ts';
import { isRecord } from './record.ts';
import { cellEntry, readBocCell, readStackNumber, takeEntry, type ArgumentBudget } from './stack-arguments.ts';

/** Reads arguments of a get-method with `@type` at every level (service/v2/README.md#stack). Both throw ContractError. */
export type TypedReader = {
  readonly readEntry: (raw: unknown, budget: ArgumentBudget) => StackEntry;
  /** The items of `tvm.tuple` or `tvm.list`; the depth of a request's JSON bounds how deep they are nested. */
  readonly readElements: (
    raw: unknown,
    type: 'tvm.tuple' | 'tvm.list',
    wanted: string,
    budget: ArgumentBudget,
  ) => StackEntry[];
};

/** @param unsupported the refusal of an unknown type */
export function createTypedReader(unsupported: (tag: string) => Error): TypedReader {
  function readEntry(raw: unknown, budget: ArgumentBudget): StackEntry {
    takeEntry(budget);
    const tag = isRecord(raw) ? raw['@type'] : undefined;
    if (!isRecord(raw) || typeof tag !== 'string') throw refused('failed to parse stack: an entry has no @type');
    switch (tag) {
      case 'tvm.stackEntryNumber':
        return { type: 'int', value: readTypedNumber(raw['number']) };
      case 'tvm.stackEntryCell':
        return readTypedCell('cell', raw['cell'], budget);
      case 'tvm.stackEntrySlice':
        return readTypedCell('slice', raw['slice'], budget);
      case 'tvm.stackEntryTuple':
        return {
          type: 'tuple',
          items: readElements(raw['tuple'], 'tvm.tuple', 'failed to parse stack: invalid tvm.tuple', budget),
        };
      case 'tvm.stackEntryList':
        return asPairs(readElements(raw['list'], 'tvm.list', 'failed to parse stack: invalid tvm.list', budget));
      default:
        throw unsupported(tag);
    }
  }

  function readElements(
    raw: unknown,
    type: 'tvm.tuple' | 'tvm.list',
    wanted: string,
    budget: ArgumentBudget,
  ): StackEntry[] {
    if (!isRecord(raw) || raw['@type'] !== type || !Array.isArray(raw['elements'])) throw refused(wanted);
    return raw['elements'].map((element) => readEntry(element, budget));
  }

  return { readEntry, readElements };
}

function readTypedNumber(raw: unknown): bigint {
  if (!isRecord(raw) || raw['@type'] !== 'tvm.numberDecimal')
    throw refused('failed to parse stack: invalid tvm.numberDecimal');
  return readStackNumber(raw['number']);
}

function readTypedCell(type: 'cell' | 'slice', raw: unknown, budget: ArgumentBudget): StackEntry {
  const wanted = `failed to parse stack: invalid tvm.${type}`;
  if (!isRecord(raw) || raw['@type'] !== `tvm.${type}` || typeof raw['bytes'] !== 'string') throw refused(wanted);
  return cellEntry(type, readBocCell(raw['bytes'], wanted, budget), `${wanted}, an ordinary cell expected`);
}

/** A list as the VM has it: pairs of head and tail that end with null. */
export function asPairs(items: readonly StackEntry[]): StackEntry {
  return items.reduceRight<StackEntry>((tail, head) => ({ type: 'tuple', items: [head, tail] }), { type: 'null' });
}

function refused(message: string): ContractError {
  return invalid(message, 'stack');
}
