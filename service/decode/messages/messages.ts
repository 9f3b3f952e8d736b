import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { bocText, ExoticCell, isExhausted, newBudget, RawCell } from './decoded.ts';
import type { Budget, DecodedBody, DecodedObject, DecodedValue, ReadObject } from './decoded.ts';
import { createReaders, isEmpty } from './readers.ts';
import type { Read } from './readers.ts';
import { readConstructor } from './scheme-line.ts';
import type { Constructor } from './scheme-line.ts';
import schemes from './schemes.json' with { type: 'json' };
import { countedBody, unnamedBodies } from './wallets.ts';

/** Cells inside cells that are looked into (v3 sheet 13). */
const NESTED_MAX = 10;

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

/** A constructor's own tag, or the tags of the type that its first bits are of. */
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

/** What a body's first 32 bits are called, e.g. `jetton_transfer`; undefined when no scheme has them. */
export function decodedOpcode(opcode: number): string | undefined {
  return names.get(opcode >>> 0);
}

/**
 * A message's body by what it says: the first constructor of the schemes that has its first 32 bits and that it fits, else a
 * wallet's order without an operation; cells in it likewise, ten deep. The slice stays where it is.
 * Bounded: a body that takes more than 20,000 steps or repeats its cells beyond a message's size is not decoded.
 * @returns undefined when nothing fits
 */
export function decodeBody(body: CellSlice): DecodedBody | undefined {
  const { stackTraceLimit } = Error;
  // Most errors in here say that one of several constructors does not fit: their stacks, which nobody sees, took a fifth of the time.
  Error.stackTraceLimit = 0;
  try {
    return decodeSlice(body, 0, newBudget());
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    Error.stackTraceLimit = stackTraceLimit;
    // A defect of ours: read again, it is thrown with its stack.
    return decodeSlice(body, 0, newBudget());
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function decodeSlice(body: CellSlice, nested: number, budget: Budget): DecodedBody | undefined {
  if (isEmpty(body)) return { '@type': 'empty_cell' };
  const found = readNamed(body, budget) ?? readUnnamed(body, budget);
  return found === undefined ? undefined : (settle(comment(found), nested, budget) as DecodedBody);
}

function readNamed(body: CellSlice, budget: Budget): ReadObject | undefined {
  if (body.remainingBits < 32) return undefined;
  const opcode = body.uintAhead(0, 32);
  const list = candidates.get(opcode);
  if (list === undefined) return undefined;
  const counted = countedBody(body, opcode);
  const first = counted === undefined ? undefined : attempt(body, 0, readers.type(counted.type, counted.args), budget);
  if (first !== undefined) return first;
  for (const { read, skipBits } of list) {
    const value = attempt(body, skipBits, read, budget);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readUnnamed(body: CellSlice, budget: Budget): ReadObject | undefined {
  for (const { type, args } of unnamedBodies(body)) {
    const value = attempt(body, 0, readers.type(type, args), budget, isEmpty);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads a copy; undefined when it does not fit. Throws DecodeError `too_big` when the budget is used up. */
function attempt(
  body: CellSlice,
  skipBits: number,
  read: Read,
  budget: Budget,
  accept: (rest: CellSlice) => boolean = () => true,
): ReadObject | undefined {
  const slice = body.clone();
  slice.skip(skipBits);
  const { deep } = budget;
  try {
    const value = read(slice, {}, budget) as ReadObject;
    return accept(slice) ? value : undefined;
  } catch (error) {
    if (!(error instanceof DecodeError) || isExhausted(budget)) throw error;
    budget.deep = deep;
    return undefined;
  }
}

/** A text comment says its type twice, for older clients (v3 sheet 13). */
function comment(value: ReadObject): ReadObject {
  if (value['@type'] !== 'text_comment') return value;
  return { '@type': 'text_comment', type: 'text_comment', comment: value['text']! };
}

/** Looks into the cells of a value that was read whole; what it says of them takes their place in it. */
function settle(value: ReadObject | RawCell | ExoticCell, nested: number, budget: Budget): DecodedValue {
  if (value instanceof ExoticCell) return bocText(value, budget);
  if (value instanceof RawCell) {
    const inside = nested < NESTED_MAX ? decodeSlice(value.slice, nested + 1, budget) : undefined;
    return inside ?? bocText(value, budget);
  }
  for (const name in value) {
    const inner = value[name]!;
    if (typeof inner === 'object' && inner !== null) value[name] = settle(inner, nested, budget);
  }
  return value as DecodedObject;
}
