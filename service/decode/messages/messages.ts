import type { CellSlice, ContractSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { READ_LIMITS } from '../read-budget.ts';
import { bocText, BodyBudget, ExoticCell, RawCell } from './decoded.ts';
import type { DecodedBody, ReadObject, ReadValue } from './decoded.ts';
import { createReaders } from './readers.ts';
import { readConstructor } from './scheme-line.ts';
import type { Constructor } from './scheme-line.ts';
import schemes from './schemes.json' with { type: 'json' };
import { isEmpty } from './simple-types.ts';
import type { Read } from './simple-types.ts';
import { bodyWithCounts, candidateBodies } from './wallets.ts';

/** Most nested cells that are decoded (service/v3/README.md#decoding). */
const NESTED_MAX = 11;

type Candidate = { readonly name: string; readonly read: Read; readonly skipBits: number };

const readers = createReaders(schemes.types.map(readConstructor));
const names = new Map<number, string>();
const candidates = new Map<number, Candidate[]>();

for (const source of schemes.groups.flatMap((group) => group.constructors).map(readConstructor)) {
  const read = readers.constructor(source);
  for (const tag of firstBits(source)) {
    const opcode = Number.parseInt(tag, 2);
    const list = candidates.get(opcode) ?? [];
    list.push({ name: source.name, read, skipBits: source.tag.length });
    candidates.set(opcode, list);
    if (source.tag !== '' && !names.has(opcode)) names.set(opcode, source.name);
  }
}

/** Returns a constructor's own tag, or the tags of the type of its first bits. */
function firstBits(source: Constructor): readonly string[] {
  if (source.tag !== '') return [source.tag];
  for (const field of source.fields) {
    if (field.kind === 'check' || field.term.kind === 'ref') continue;
    if (field.term.kind !== 'apply') return [];
    return readers
      .constructorsOf(field.term.name)
      .map((inner) => inner.tag)
      .filter((tag) => tag.length === 32);
  }
  return [];
}

/** Returns the name of a body's first 32 bits, e.g. `jetton_transfer`; undefined when no scheme has them. */
export function decodedOpcode(opcode: number): string | undefined {
  return names.get(opcode >>> 0);
}

/**
 * Base of the bound on the bytes of JSON for the decoded bodies of one table. `OUTPUT_FACTOR` times the table's bytes are added. Bodies
 * without shared cells stay below 15 times their bytes. An order of 255 equal messages has 3 KB and takes 220 KB of JSON.
 */
const OUTPUT_LEAST = 192 * 1024;
const OUTPUT_FACTOR = 32;

/**
 * Decodes a message's body. The first constructor that fits and has its first 32 bits is chosen. Without one, the body is tried as a wallet's order
 * without an operation. Nested cells are decoded likewise, eleven deep. The slice does not move. A body that exceeds its budget is not decoded.
 * @param budget by default the limits of one read, with a bound on JSON by the size of the body's table
 * @returns undefined when nothing fits
 */
export function decodeBody(body: CellSlice, budget?: BodyBudget): DecodedBody | undefined {
  return createBodyDecoder()(body, budget);
}

/** `decodeBody` for bodies of one table. Its results must not change, because a message that was decoded within an order is not decoded again. */
export type BodyDecoder = typeof decodeBody;

export function createBodyDecoder(): BodyDecoder {
  const known: KnownCells = new Map();
  let output = 0;
  return (body, budget = new BodyBudget({ output: outputOf(body) - output })) => {
    const content = known.size > 0 && body.remainingRefs > 0 ? contentOf(body) : '';
    if (known.has(content)) return known.get(content);
    const { stackTraceLimit } = Error;
    // Most errors here mean that one of several constructors does not fit. Their stacks, which have no reader, took a fifth of the time.
    Error.stackTraceLimit = 0;
    try {
      return decodeSlice(body.within(budget), { known, nested: 0 }, budget);
    } catch (error) {
      if (error instanceof DecodeError) return undefined;
      Error.stackTraceLimit = stackTraceLimit;
      // This error is a defect. The second read throws it with its stack.
      const again = new BodyBudget(budget.limits);
      return decodeSlice(body.within(again), { known, nested: 0 }, again);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
      output += budget.outputTaken;
    }
  };
}

function outputOf({ table }: CellSlice): number {
  return Math.min(READ_LIMITS.output, OUTPUT_LEAST + OUTPUT_FACTOR * table.bytes.length);
}

/**
 * Cache of decoded cells directly within bodies, by their content; undefined where nothing fits. A cell without references is decoded as fast as it
 * is found.
 */
type KnownCells = Map<string, DecodedBody | undefined>;

/** @param nested number of cells around this one */
type Within = { readonly known: KnownCells; readonly nested: number };

/** Identifies the bits and references left in a slice: equal text for equal content of one table. */
function contentOf(slice: CellSlice): string {
  const rest = slice.clone();
  let text = `${rest.remainingBits}`;
  while (rest.remainingRefs > 0) text += `,${rest.ref()}`;
  return `${text} ${rest.bits(rest.remainingBits).toString('latin1')}`;
}

function decodeSlice(body: ContractSlice, within: Within, budget: BodyBudget): DecodedBody | undefined {
  if (isEmpty(body)) return { '@type': 'empty_cell' };
  const around = budget.cells;
  budget.cells = [];
  const found = readNamed(body, budget) ?? readUnnamed(body, budget);
  // The decoded cells replace the cells in the value.
  for (const { of, name } of budget.cells) of[name] = lookInto(of[name]!, within, budget);
  budget.cells = around;
  return found as DecodedBody | undefined;
}

function readNamed(body: ContractSlice, budget: BodyBudget): ReadObject | undefined {
  if (body.remainingBits < 32) return undefined;
  const opcode = body.uintAhead(0, 32);
  const list = candidates.get(opcode);
  if (list === undefined) return undefined;
  const counted = bodyWithCounts(body, opcode);
  const first = counted === undefined ? undefined : attempt(body, 0, readers.type(counted.type, counted.args), budget);
  if (first !== undefined) return first;
  for (const { read, skipBits } of list) {
    const value = attempt(body, skipBits, read, budget);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readUnnamed(body: ContractSlice, budget: BodyBudget): ReadObject | undefined {
  for (const { type, args } of candidateBodies(body)) {
    const value = attempt(body, 0, readers.type(type, args), budget, isEmpty);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads a copy; undefined when it does not fit. Throws DecodeError `too_big` when the budget is spent. */
function attempt(
  body: ContractSlice,
  skipBits: number,
  read: Read,
  budget: BodyBudget,
  accept: (rest: ContractSlice) => boolean = () => true,
): ReadObject | undefined {
  const slice = body.clone();
  slice.skip(skipBits);
  const { depth } = budget;
  try {
    const value = read(slice, {}, budget) as ReadObject;
    if (accept(slice)) return value;
  } catch (error) {
    if (!(error instanceof DecodeError) || budget.isSpent) throw error;
    budget.depth = depth;
  }
  budget.cells.length = 0;
  return undefined;
}

/** Decodes a cell of a value that was read whole, or returns its bag. */
function lookInto(value: ReadValue, { known, nested }: Within, budget: BodyBudget): ReadValue {
  if (value instanceof ExoticCell) return bocText(value, budget);
  // A field that was set twice is decoded already.
  if (!(value instanceof RawCell)) return value;
  if (nested >= NESTED_MAX) {
    budget.isCut = true;
    return bocText(value, budget);
  }
  const { slice } = value;
  const wasCut = budget.isCut;
  budget.isCut = false;
  const inside = decodeSlice(slice, { known, nested: nested + 1 }, budget);
  if (nested === 0 && slice.remainingRefs > 0 && !budget.isCut) known.set(contentOf(slice), inside);
  budget.isCut ||= wasCut;
  return inside ?? bocText(value, budget);
}
