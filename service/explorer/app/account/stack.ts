import { parseBoc, readerOf, writeBoc, type Cell } from '../cells.ts';
import { parseAddress } from './address-forms.ts';

/** Types of arguments that the form of a method offers. */
export const argumentTypes = ['num', 'address', 'cell', 'slice', 'null'] as const;
export type ArgumentType = (typeof argumentTypes)[number];
export type Argument = { readonly type: ArgumentType; readonly text: string };

/** An entry of a stack as v3 takes and gives it. */
export type StackEntry = { readonly type: string; readonly value?: unknown };

/** The entry of an argument; undefined for a text that does not have the form of its type. */
export function entryOf({ type, text }: Argument): StackEntry | undefined {
  const trimmed = text.trim();
  switch (type) {
    case 'null':
      return { type: 'null' };
    case 'num':
      return /^-?(\d{1,78}|0x[0-9a-f]{1,65})$/i.test(trimmed) ? { type: 'num', value: trimmed } : undefined;
    case 'address': {
      const address = parseAddress(trimmed);
      return address && { type: 'slice', value: addressBoc(address.workchain, address.id) };
    }
    default:
      return isBoc(trimmed) ? { type, value: trimmed } : undefined;
  }
}

/** A cell with a standard address: `addr_std$10`, no anycast, workchain, account id. */
function addressBoc(workchain: number, id: string): string {
  const value = (((0b100n << 8n) | BigInt(workchain & 0xff)) << 256n) | BigInt(`0x${id}`);
  // 267 bits in 34 bytes: five bits stay behind.
  const hex = (value << 5n).toString(16).padStart(68, '0');
  return writeBoc(
    Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
    267,
  );
}

function isBoc(text: string): boolean {
  try {
    parseBoc(text);
    return true;
  } catch {
    return false;
  }
}

/** A result of a method for people. */
export type StackValue =
  | { readonly kind: 'number'; readonly decimal: string; readonly hex: string }
  | { readonly kind: 'address'; readonly raw: string; readonly boc: string }
  | { readonly kind: 'text'; readonly text: string; readonly boc: string }
  | { readonly kind: 'cell'; readonly type: string; readonly bits: number; readonly refs: number; readonly boc: string }
  | { readonly kind: 'list'; readonly type: string; readonly items: readonly StackValue[] }
  | { readonly kind: 'other'; readonly text: string };

/** Levels and values of a result that are shown. */
const DEPTH_MAX = 20;
const ITEMS_MAX = 500;

export function valueOf({ type, value }: StackEntry, depth = 0): StackValue {
  if (type === 'num' && typeof value === 'string' && /^-?(0x[0-9a-f]+|\d+)$/i.test(value)) return numberOf(value);
  if ((type === 'tuple' || type === 'list') && Array.isArray(value)) {
    const items = depth < DEPTH_MAX ? (value as readonly StackEntry[]).slice(0, ITEMS_MAX) : [];
    return { kind: 'list', type, items: items.map((item) => valueOf(item, depth + 1)) };
  }
  if ((type === 'cell' || type === 'slice') && typeof value === 'string') return cellOf(type, value);
  return { kind: 'other', text: `${type} ${JSON.stringify(value ?? null)}` };
}

function numberOf(text: string): StackValue {
  const isNegative = text.startsWith('-');
  const absolute = BigInt(isNegative ? text.slice(1) : text);
  const sign = isNegative ? '-' : '';
  return { kind: 'number', decimal: `${sign}${absolute}`, hex: `${sign}0x${absolute.toString(16)}` };
}

function cellOf(type: string, boc: string): StackValue {
  let cell: Cell;
  try {
    cell = parseBoc(boc);
  } catch {
    return { kind: 'cell', type, bits: 0, refs: 0, boc };
  }
  const raw = addressIn(cell);
  if (raw !== undefined) return { kind: 'address', raw, boc };
  const text = textIn(cell);
  if (text !== undefined) return { kind: 'text', text, boc };
  return { kind: 'cell', type, bits: cell.bitLength, refs: cell.refs.length, boc };
}

/** The raw address of a cell that has a standard address and nothing else. */
function addressIn(cell: Cell): string | undefined {
  if (cell.bitLength !== 267 || cell.refs.length > 0) return undefined;
  const reader = readerOf(cell);
  if (reader.uint(3) !== 0b100n) return undefined;
  const workchain = reader.int(8);
  return `${workchain}:${reader.hex(256).toUpperCase()}`;
}

/** Cells and bytes of one text. */
const TEXT_CELLS_MAX = 64;

/** A text of whole printable characters in a chain of cells, at least four bytes long: a shorter text is more often a number. */
function textIn(root: Cell): string | undefined {
  const bytes: number[] = [];
  let cell: Cell | undefined = root;
  for (let count = 0; cell !== undefined; count++) {
    if (count >= TEXT_CELLS_MAX || cell.bitLength % 8 !== 0 || cell.refs.length > 1 || cell.isExotic) return undefined;
    bytes.push(...cell.bits.subarray(0, cell.bitLength / 8));
    cell = cell.refs[0];
  }
  // Content outside of the chain has the tag 1, a comment four zero bytes.
  const start = bytes[0] === 1 ? 1 : bytes.slice(0, 4).every((one) => one === 0) ? 4 : 0;
  const own = bytes.slice(start);
  if (own.length < 4) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(own));
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
