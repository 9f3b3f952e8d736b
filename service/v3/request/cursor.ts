import { invalid } from '#service/contract/errors.ts';
import type { Order, OrderKey, Position, PositionValue } from '#service/store/queries/order.ts';
import { positionOf } from '#service/store/queries/order.ts';
import type { V3Request } from './operation.ts';

/*
 * Paging that new rows do not shift. An answer that may go on has a cursor in the header X-Next-Cursor, and the parameter `cursor`
 * continues from it. A cursor is the position of the answer's last row in the order of the list. It is valid for the same list in the same
 * order, independent of later rows.
 */

/** Header of an answer whose list may go on. */
export const nextCursorHeader = 'X-Next-Cursor';

/** Version of the cursor's form: cursors of other versions are refused. */
const FORM = 1;

/** Order of a list, with the name of the list. */
export type ListOrder = { readonly list: string; readonly order: Order };

/** Parameters that define the start of a list. */
export type CursorValues = { readonly cursor?: string | undefined; readonly offset: number };

/** Start of a list, for its query; undefined at its first row. @throws ContractError 422 naming `cursor` */
export function openCursor({ list, order }: ListOrder, { cursor, offset }: CursorValues): Position | undefined {
  if (cursor === undefined) return undefined;
  if (offset > 0) throw invalid('cursor and offset cannot be given together', 'cursor');
  const [form, of, values] = readParts(cursor);
  if (form !== FORM || !Array.isArray(values)) throw unreadable();
  if (of !== fingerprint(list, order)) throw invalid('cursor is of another list, or of another order of it', 'cursor');
  const position = order.map((key, at) => readValue(key, values[at]));
  if (values.length !== order.length) throw unreadable();
  return position;
}

/** Returns the next cursor to the caller if the page is full. @param rows of the page, in the order of the list */
export function announceNextPage(
  { list, order }: ListOrder,
  rows: readonly object[],
  limit: number,
  { onNextPage }: Pick<V3Request, 'onNextPage'>,
): void {
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit) return;
  const values = positionOf(order, last).map(writeValue);
  onNextPage(Buffer.from(JSON.stringify([FORM, fingerprint(list, order), values])).toString('base64url'));
}

/**
 * Reads a page of a list, after the cursor if present; returns the next cursor to the caller.
 *
 * @param placeOf the columns of the order, where a row has others in their names
 */
export async function readPage<R extends object>(
  order: ListOrder,
  values: CursorValues & { readonly limit: number },
  context: Pick<V3Request, 'onNextPage'>,
  find: (after: Position | undefined) => Promise<readonly R[]>,
  placeOf: (row: R) => object = (row) => row,
): Promise<readonly R[]> {
  const rows = await find(openCursor(order, values));
  announceNextPage(order, rows.map(placeOf), values.limit, context);
  return rows;
}

function fingerprint(list: string, order: Order): string {
  return [list, ...order.map(({ column, sort }) => `${column}.${sort}`)].join(' ');
}

function writeValue(value: PositionValue): string | number | null {
  if (value === null || typeof value === 'number' || typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : Buffer.from(value).toString('base64url');
}

const int64Bound = 2n ** 63n;
/** Bytes of an order's column: no column has more. */
const BYTES_MAX = 64;
/** Indexes of items are the longest numbers: integers of a contract's stack, 257 bits with the sign. */
const DIGITS_MAX = 79;
/** Domains are the longest texts of an order: 126 bytes and the suffix after them. */
const TEXT_CHARS_MAX = 200;

function readValue({ type, nullable }: OrderKey, value: unknown): PositionValue {
  if (value === null && nullable === true) return null;
  if (type === 'integer' || type === 'utime') {
    if (typeof value === 'number' && value === (value | 0)) return value;
  } else if (type === 'text') {
    if (typeof value === 'string' && value.length <= TEXT_CHARS_MAX && !value.includes('\0')) return value;
  } else if (type === 'bytea') {
    const bytes = typeof value === 'string' ? Buffer.from(value, 'base64url') : undefined;
    if (bytes !== undefined && bytes.length <= BYTES_MAX) return bytes;
  } else if (typeof value === 'string' && value.length <= DIGITS_MAX && /^-?\d+$/.test(value)) {
    const number = BigInt(value);
    if (type === 'numeric' || (number < int64Bound && number >= -int64Bound)) return number;
  }
  throw unreadable();
}

/** Cursors have some hundred characters; longer texts are no cursors. */
const CURSOR_CHARS_MAX = 1000;

function readParts(cursor: string): readonly unknown[] {
  if (cursor.length > CURSOR_CHARS_MAX) throw unreadable();
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? (parts as readonly unknown[]) : [];
  } catch {
    throw unreadable();
  }
}

function unreadable(): Error {
  return invalid('failed to decode: schema: error converting value for "cursor"', 'cursor');
}
