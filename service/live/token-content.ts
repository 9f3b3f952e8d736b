import { createHash } from 'node:crypto';

import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import { lookupHashmap, uintKey, walkHashmap } from '../decode/hashmap.ts';
import type { StackCell } from './vm-values.ts';

/** What a token says about itself (TEP-64). */
export type TokenContent =
  | { readonly kind: 'offchain'; readonly uri: string }
  /** Known attributes by name, in alphabetical order, then others by the hex of their key; `image_data` is base64. */
  | { readonly kind: 'onchain'; readonly attributes: ReadonlyMap<string, string> };

const ATTRIBUTES = [
  'amount_style',
  'decimals',
  'description',
  'image',
  'image_data',
  'name',
  'render_type',
  'symbol',
  'uri',
] as const;

const NAMES: ReadonlyMap<string, string> = new Map(
  ATTRIBUTES.map((name) => [createHash('sha256').update(name).digest('hex'), name]),
);

/** Attributes of one token, and bytes of one value and of all: cells may be shared, so that few of them can spell megabytes. */
const ATTRIBUTES_MAX = 256;
const VALUE_BYTES_MAX = 64 * 1024;
const CONTENT_BYTES_MAX = 1024 * 1024;

/** What is read of one value: those of more bytes are none, or end before the cell that has the first byte too many. */
type Limit = { readonly bytesMax: number; readonly cut: boolean };

const WHOLE: Limit = { bytesMax: VALUE_BYTES_MAX, cut: false };

/** Of a value that indexers keep (indexing sheet 6). */
const START: Limit = { bytesMax: 8 * 1024, cut: true };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Content that says nothing: unreadable, or of no known form. */
export const NO_CONTENT: TokenContent = { kind: 'onchain', attributes: new Map() };

/**
 * Reads `Content`: a first byte of 1 and the address of the content, or a first byte of 0 and a dictionary of attributes. Never
 * throws: what is not so has no content, and a value that is no text of a bearable length is left out.
 */
export function readTokenContent({ table, cell }: StackCell): TokenContent {
  return readable(() => readContent(new CellSlice(table, cell))) ?? NO_CONTENT;
}

/**
 * What indexers keep of a content (indexing sheet 6): its `uri`, or the known attributes, each of 8 KiB at most and without zero bytes;
 * `image_data` is base64. Undefined for what is no content.
 */
export function readKeptContent({ table, cell }: StackCell): Readonly<Record<string, string>> | undefined {
  return readable(() => {
    const slice = new CellSlice(table, cell);
    const form = slice.uint(8);
    if (form === 1) {
      const uri = asText(readSnake(slice, START));
      return uri === undefined ? undefined : { uri: withoutZeros(uri) };
    }
    return form === 0 ? readKeptAttributes(slice.table, slice.maybeRef()) : undefined;
  });
}

/** Each is looked up, so that others, however many, cost nothing. */
function readKeptAttributes(table: CellTable, root: number | undefined): Record<string, string> {
  const found = [...NAMES].flatMap(([hex, name]) => {
    const value = lookupHashmap(table, root, 256, Buffer.from(hex, 'hex'));
    const text = value && readAttribute(name, value, START).text;
    return text === undefined ? [] : [[name, withoutZeros(text)] as const];
  });
  return Object.fromEntries(found);
}

/** A text of Postgres has none. */
function withoutZeros(text: string): string {
  return text.replaceAll('\0', '');
}

function readContent(slice: CellSlice): TokenContent | undefined {
  const form = slice.uint(8);
  if (form === 1) {
    const uri = asText(readSnake(slice, WHOLE));
    return uri === undefined ? undefined : { kind: 'offchain', uri };
  }
  return form === 0 ? { kind: 'onchain', attributes: readAttributes(slice) } : undefined;
}

/** `HashmapE 256 ^ContentData`; some tokens have the value in place of the reference. */
function readAttributes(slice: CellSlice): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const others = new Map<string, string>();
  let room = CONTENT_BYTES_MAX;
  walkHashmap(slice.table, slice.maybeRef(), 256, (key, value) => {
    const hex = key.toString('hex');
    const name = NAMES.get(hex);
    const { text, bytes } = readAttribute(name, value, WHOLE);
    room -= bytes?.length ?? 0;
    if (room < 0) return false;
    if (text !== undefined) (name === undefined ? others : known).set(name ?? hex, text);
    return known.size + others.size < ATTRIBUTES_MAX;
  });
  const sorted = ATTRIBUTES.flatMap((name) => (known.has(name) ? [[name, known.get(name)!] as const] : []));
  return new Map<string, string>([...sorted, ...others]);
}

/** A value in a reference, as TEP-64 has it, or in its place. */
function readAttribute(name: string | undefined, value: CellSlice, limit: Limit): { text?: string; bytes?: Buffer } {
  const bytes = readable(() => readContentData(value.remainingBits === 0 ? value.refSlice() : value, limit));
  const text = name === 'image_data' ? bytes?.toString('base64') : asText(bytes);
  return { ...(text !== undefined && { text }), ...(bytes !== undefined && { bytes }) };
}

/** `snake#00 data:(SnakeData ~n)`, `chunks#01 data:(HashmapE 32 ^(SnakeData ~0))`, whose numbers count from 0. */
function readContentData(slice: CellSlice, limit: Limit): Buffer | undefined {
  const form = slice.uint(8);
  if (form === 0) return readSnake(slice, limit);
  return form === 1 ? readChunks(slice, limit) : undefined;
}

function readChunks(slice: CellSlice, { bytesMax, cut }: Limit): Buffer | undefined {
  const root = slice.maybeRef();
  const chunks: Buffer[] = [];
  for (let length = 0; ;) {
    const found = lookupHashmap(slice.table, root, 32, uintKey(chunks.length, 32));
    if (found === undefined) return Buffer.concat(chunks);
    const chunk = readSnake(found.refSlice(), WHOLE);
    if (chunk === undefined || chunk.length === 0) return undefined;
    length += chunk.length;
    if (length > bytesMax) return cut ? Buffer.concat(chunks) : undefined;
    chunks.push(chunk);
  }
}

/** The whole bytes of a cell, then of its first reference, and so on; undefined when one is not of whole bytes, or all are too many. */
function readSnake(start: CellSlice, { bytesMax, cut }: Limit): Buffer | undefined {
  const parts: Buffer[] = [];
  let length = 0;
  for (let slice = start; ; slice = slice.refSlice()) {
    if (slice.remainingBits % 8 !== 0) return undefined;
    const part = slice.bytes(slice.remainingBits / 8);
    length += part.length;
    if (length > bytesMax) return cut ? Buffer.concat(parts) : undefined;
    parts.push(part);
    if (slice.remainingRefs === 0) return Buffer.concat(parts);
  }
}

function asText(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
