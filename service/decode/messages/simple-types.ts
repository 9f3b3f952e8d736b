import { readSnake, takeText } from '../contract-data.ts';
import type { ContractSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { takeRest } from './decoded.ts';
import type { BodyBudget, ReadValue } from './decoded.ts';
import type { Term } from './scheme-line.ts';

/** Reads one value at the slice's position. Throws DecodeError for a malformed value. */
export type Read = (slice: ContractSlice, scope: Scope, budget: BodyBudget) => ReadValue;

/** Numbers read so far and arguments of the type, by name. */
export type Scope = { readonly [name: string]: number | Read };

/** Error of a cell that holds no value of a type. */
export function failed(slice: ContractSlice, type: string): DecodeError {
  return new DecodeError('bad_tag', `The cell is no ${type}.`, { cell: slice.cell, type });
}

/** Reports whether nothing is left to read. */
export function isEmpty(slice: ContractSlice): boolean {
  return slice.remainingBits === 0 && slice.remainingRefs === 0;
}

/** Reads a number of a width as text. Up to 48 bits fit a number exactly and are cheaper there. */
function uintText(slice: ContractSlice, bits: number): string {
  if (bits <= 32) return String(slice.uint(bits));
  if (bits > 48) return slice.uintBig(bits).toString();
  return String(slice.uint(bits - 32) * 0x1_0000_0000 + slice.uint(32));
}

/** Reads bits as hex digits. A last digit of fewer than four bits is filled with a one and zeros, and `_` follows it. */
export function bitsText(slice: ContractSlice, bits: number): string {
  const bytes = slice.bits(bits);
  const isRagged = bits % 4 > 0;
  if (isRagged) bytes[bits >> 3]! |= 128 >> (bits & 7);
  const digits = bytes
    .toString('hex')
    .slice(0, Math.ceil(bits / 4))
    .toUpperCase();
  return isRagged ? `${digits}_` : digits;
}

/** Reads a text over a chain of cells. Bytes that are no UTF-8 become the replacement character. */
const readSnakeText: Read = (slice, _scope, budget) => {
  const bytes = readSnake(slice, { isStrict: true });
  if (bytes === undefined) {
    throw new DecodeError('bad_value', 'A text has whole bytes and one reference.', { cell: slice.cell });
  }
  return takeText(budget, bytes.toString('utf8'));
};

/** Readers of types that no scheme defines. */
export const PLAIN: Readonly<Record<string, Read>> = {
  '#': (slice) => uintText(slice, 32),
  Any: takeRest,
  Cell: takeRest,
  SnakeString: readSnakeText,
};

/** Reader of `uint64`, `int8`, `bits256` and the like. */
export function fixedWidth(name: string): Read | undefined {
  const match = /^(uint|int|bits)(\d+)$/.exec(name);
  if (match === null) return undefined;
  const bits = Number(match[2]);
  if (match[1] === 'uint') return (slice) => uintText(slice, bits);
  if (match[1] === 'int') return (slice) => slice.intBig(bits).toString();
  return (slice) => bitsText(slice, bits);
}

/** Types of numbers and bits whose width is an argument, and dictionaries. */
export function isBuiltIn(name: string): boolean {
  return name === 'Hashmap' || /^(##|#<=?|uint|int|bits)$/.test(name);
}

/** Reads a number or bits whose width, or greatest value, is an argument. */
export function numberReader(name: string, args: readonly Term[]): Read | undefined {
  if (!isBuiltIn(name)) return undefined;
  const size = numberOf(args[0]!);
  if (name === '##' || name === 'uint') return (slice, scope) => uintText(slice, size(scope));
  if (name === 'int') return (slice, scope) => slice.intBig(size(scope)).toString();
  if (name === 'bits') return (slice, scope) => bitsText(slice, size(scope));
  return (slice, scope) => {
    const most = name === '#<' ? size(scope) - 1 : size(scope);
    const value = slice.uint(32 - Math.clz32(most));
    if (value > most) throw failed(slice, name);
    return String(value);
  };
}

export function constant(term: Term): number {
  if (term.kind !== 'number') throw new Error('A width is wanted.');
  return term.value;
}

function numberOf(term: Term): (scope: Scope) => number {
  if (term.kind === 'number') return () => term.value;
  if (term.kind === 'apply') return (scope) => Number(scope[term.name]);
  if (term.kind !== 'product') throw new Error('A number is wanted.');
  const left = numberOf(term.left);
  const right = numberOf(term.right);
  return (scope) => left(scope) * right(scope);
}
