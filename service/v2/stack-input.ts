import { createCellStore, type CellStore } from '../decode/cell-store.ts';
import type { StackCell, StackEntry } from '../tvm/stack.ts';
import { invalid, type ContractError } from '../contract/errors.ts';
import { V2Error } from './errors.ts';
import { isRecord } from '../contract/record.ts';
import {
  cellEntry,
  makeArgumentBudget,
  readBocCell,
  readStackNumber,
  requireFewArguments,
  takeCells,
  takeEntry,
  type ArgumentBudget,
} from '../contract/stack-arguments.ts';
import { asPairs, createTypedReader } from '../contract/typed-stack.ts';
import type { OptionalParameter } from '../contract/parameter.ts';
import { readCellObject } from './stack-cell-input.ts';
import { legacyStackInput, typedStackInput, type StackInput } from './stack-input-schema.ts';

const { readEntry: readTypedEntry, readElements } = createTypedReader(unsupported);

/** Arguments as pairs of type and value (service/v2/README.md#stack); the first is pushed first. */
export const legacyStack: OptionalParameter<readonly StackEntry[]> = stackParameter(legacyStackInput, readLegacyEntry);

/** Arguments as objects with `@type` at every level (service/v2/README.md#stack); the first is pushed first. */
export const typedStack: OptionalParameter<readonly StackEntry[]> = stackParameter(typedStackInput, readTypedEntry);

function stackParameter(
  input: StackInput,
  read: (raw: unknown, budget: ArgumentBudget) => StackEntry,
): OptionalParameter<readonly StackEntry[]> {
  return {
    name: 'stack',
    missing: undefined,
    parse: (raw) => {
      if (!Array.isArray(raw)) throw refused('Stack should be array');
      const budget = makeArgumentBudget();
      return requireFewArguments(raw).map((entry) => read(entry, budget));
    },
    check: () => undefined,
    input,
  };
}

/** Names of the peers and of their clients for a number. */
const numberTags: ReadonlySet<string> = new Set(['num', 'int', 'number', 'integer']);

const cellTags: ReadonlyMap<string, 'cell' | 'slice' | 'builder'> = new Map([
  ['tvm.Cell', 'cell'],
  ['tvm.Slice', 'slice'],
  ['tvm.Builder', 'builder'],
  ['cell', 'cell'],
  ['slice', 'slice'],
  ['builder', 'builder'],
]);

/** Budget of a call, with the store of the cells that are written as objects. */
type LegacyBudget = ArgumentBudget & { store?: CellStore };

function readLegacyEntry(raw: unknown, budget: LegacyBudget): StackEntry {
  takeEntry(budget);
  if (!Array.isArray(raw)) throw refused('Stack entry should be array');
  const entry: readonly unknown[] = raw;
  const [tag, value] = entry;
  if (tag === 'null' && entry.length <= 2) return readNull(value);
  if (entry.length !== 2) throw refused(`Expected 2 elements in stack entry, got: ${entry.length}`);
  if (typeof tag !== 'string') throw refused('Expected string as first element in stack entry');
  if (numberTags.has(tag)) return { type: 'int', value: readStackNumber(value) };
  const cell = cellTags.get(tag);
  if (cell !== undefined) return readLegacyCell(tag, cell, value, budget);
  if (tag === 'tuple' || tag === 'tvm.Tuple') {
    return {
      type: 'tuple',
      items: readElements(value, 'tvm.tuple', 'Invalid tvm.Tuple, valid tvm_stackEntryTuple expected', budget),
    };
  }
  if (tag === 'list' || tag === 'tvm.List') {
    return asPairs(readElements(value, 'tvm.list', 'Invalid tvm.List, valid tvm_stackEntryList expected', budget));
  }
  throw unsupported(tag);
}

function readNull(value: unknown): StackEntry {
  if (value !== undefined && value !== null) throw refused('Invalid null, no value expected');
  return { type: 'null' };
}

/** `tvm.Cell` and similar tags take base64 of a BoC. `cell` and similar tags also take the cell objects of either peer's answers. */
function readLegacyCell(
  tag: string,
  type: 'cell' | 'slice' | 'builder',
  value: unknown,
  budget: LegacyBudget,
): StackEntry {
  const takesObjects = tag === type;
  const exoticRefusal = `Invalid ${tag}, an ordinary cell expected`;
  const wanted = `Invalid ${tag}, ${takesObjects ? 'object with field bytes' : 'base64 string'} expected`;
  if (takesObjects && isRecord(value) && value['bytes'] === undefined && isRecord(value['data'])) {
    return cellEntry(type, readObject(value, wanted, budget), exoticRefusal);
  }
  const bytes = takesObjects && isRecord(value) ? value['bytes'] : value;
  if (typeof bytes !== 'string') throw refused(wanted);
  if (bytes === '') throw refused(`Empty ${tag}`);
  return cellEntry(
    type,
    readBocCell(bytes, `Invalid ${tag}, base64 of a bag of cells expected`, budget),
    exoticRefusal,
  );
}

function readObject(value: unknown, wanted: string, budget: LegacyBudget): StackCell {
  budget.store ??= createCellStore();
  return readCellObject(budget.store, value, () => takeCells(budget, 1), wanted);
}

function refused(message: string): ContractError {
  return invalid(message, 'stack');
}

/** Longest part of an unknown type that is shown. */
const TAG_CHARACTERS_MAX = 64;

function unsupported(tag: string): V2Error {
  return new V2Error('unsupported_entry', `Unsupported stack entry type: ${tag.slice(0, TAG_CHARACTERS_MAX)}`, 'stack');
}
