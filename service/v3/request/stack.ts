import { invalid } from '#service/contract/errors.ts';
import type { OptionalParameter } from '#service/contract/parameter.ts';
import { isRecord } from '#service/contract/record.ts';
import { list, named, object, oneOfStrings, scalar, type Infer } from '#service/contract/shape.ts';
import {
  cellEntry,
  makeArgumentBudget,
  readBocCell,
  readStackNumber,
  requireFewArguments,
  takeEntry,
  type ArgumentBudget,
} from '#service/contract/stack-arguments.ts';
import { asPairs, createTypedReader } from '#service/contract/typed-stack.ts';
import {
  listElements,
  resultPruned,
  resultTooDeep,
  viewHexNumber,
  writeBagsInSteps,
  type BagTypes,
  type ResultBags,
} from '#service/contract/stack-results.ts';
import { STACK_ENTRIES_MAX, type StackCell, type StackEntry, type StackWindow } from '#service/tvm/stack.ts';

// Values of the VM as `{type, value}` (service/v3/README.md#operations-at-the-head).

const argumentTypes = ['num', 'cell', 'slice', 'builder', 'tuple', 'list', 'null'] as const;

/** Arguments of a get-method; the first is pushed first. */
export const stackArguments: OptionalParameter<readonly StackEntry[]> = {
  name: 'stack',
  missing: undefined,
  parse: (raw) => {
    if (!Array.isArray(raw)) throw invalid('stack should be array', 'stack');
    const budget = makeArgumentBudget();
    return requireFewArguments(raw).map((argument) => readArgument(argument, budget));
  },
  check: () => undefined,
  input: {
    name: 'V3Stack',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        // In place of both, the forms of `runGetMethodStd`.
        properties: { type: { type: 'string', enum: argumentTypes }, value: {}, '@type': { type: 'string' } },
      },
    },
  },
};

/** Most characters of an unknown type in an answer. */
const TYPE_CHARACTERS_MAX = 64;

const typed = createTypedReader(unsupported);

/** The depth of a request's JSON bounds how deep tuples and lists are nested. */
function readArgument(raw: unknown, budget: ArgumentBudget): StackEntry {
  if (isRecord(raw) && raw['type'] === undefined && raw['@type'] !== undefined) return typed.readEntry(raw, budget);
  takeEntry(budget);
  const type = isRecord(raw) ? raw['type'] : undefined;
  if (!isRecord(raw) || typeof type !== 'string') throw invalid('stack entry should have a type and a value', 'stack');
  const { value } = raw;
  switch (type) {
    case 'num':
      return { type: 'int', value: readStackNumber(value) };
    case 'null':
      if (value !== undefined && value !== null) throw invalid('invalid null: no value expected', 'stack');
      return { type: 'null' };
    case 'tuple':
      return { type: 'tuple', items: readItems(type, value, budget) };
    case 'list':
      return asPairs(readItems(type, value, budget));
    case 'cell':
    case 'slice':
    case 'builder':
      return readCell(type, value, budget);
    default:
      throw unsupported(type);
  }
}

function readItems(type: string, value: unknown, budget: ArgumentBudget): StackEntry[] {
  if (!Array.isArray(value)) throw invalid(`invalid ${type}: an array of stack entries expected`, 'stack');
  return value.map((item) => readArgument(item, budget));
}

function readCell(type: 'cell' | 'slice' | 'builder', value: unknown, budget: ArgumentBudget): StackEntry {
  const wanted = `invalid ${type}: base64 of a bag of cells expected`;
  if (typeof value !== 'string') throw invalid(wanted, 'stack');
  return cellEntry(type, readBocCell(value, wanted, budget), `invalid ${type}: an ordinary cell expected`);
}

function unsupported(type: string): Error {
  return invalid(`unsupported stack parameter type: ${type.slice(0, TYPE_CHARACTERS_MAX)}`, 'stack');
}

const entry = object({ type: oneOfStrings(['num', 'cell', 'slice', 'tuple', 'list']), value: scalar<unknown>({}) });

export const stackShape = list(named('V2StackEntry', entry), STACK_ENTRIES_MAX);

type EntryView = Infer<typeof entry>;

/** Levels of tuples and lists in an answer, same as in v2's typed form. */
const DEPTH_MAX = 256;

/** Builders are shown as cells. The contract has no name for a continuation: it is rendered as the cell that the VM writes. */
const bagTypes: BagTypes = new Set(['cell', 'slice', 'builder', 'continuation']);

/** A result in steps, the last entry on top. @throws ContractError `result_too_deep`, `result_too_big`, `result_pruned` */
export function* viewStack(stack: readonly StackEntry[]): Generator<undefined, readonly EntryView[]> {
  const bags = yield* writeBagsInSteps(stack, bagTypes);
  return stack.map((value) => viewEntry(bags, value, 1));
}

function viewEntry(bags: ResultBags, value: StackEntry, depth: number): EntryView {
  if (depth >= DEPTH_MAX) throw resultTooDeep(DEPTH_MAX);
  const viewAll = (items: readonly StackEntry[]): EntryView[] => items.map((item) => viewEntry(bags, item, depth + 1));
  const elements = listElements(value);
  if (elements !== undefined) return { type: 'list', value: viewAll(elements) };
  switch (value.type) {
    case 'int':
      return { type: 'num', value: viewHexNumber(value.value) };
    case 'nan':
      return { type: 'num', value: 'NaN' };
    case 'tuple':
      return { type: 'tuple', value: viewAll(value.items) };
    case 'slice':
      return { type: 'slice', value: viewCell(bags, value) };
    case 'continuation':
    case 'cell':
    case 'builder':
      return { type: 'cell', value: viewCell(bags, value) };
    default:
      return { type: 'list', value: [] };
  }
}

/** The form has no entry for a cell that cannot be rendered. @throws ContractError `result_pruned` */
function viewCell(bags: ResultBags, cell: StackCell | StackWindow): string {
  const bag = bags(cell);
  if (bag === undefined) throw resultPruned();
  return bag.text;
}
