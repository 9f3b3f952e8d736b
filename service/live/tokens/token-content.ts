import { createHash } from 'node:crypto';

import type { ContractSlice } from '#service/decode/cell-slice.ts';
import {
  attempt,
  lookUpEntry,
  openContractCell,
  readSnake,
  takeText,
  walkDictionary,
  type SnakeOptions,
} from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { keyUint } from '#service/decode/hashmap.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import type { StackCell } from '#service/tvm/stack.ts';

/** Content of a token by its own account (TEP-64). */
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

/** Attributes of one token, and bytes of one value. */
const ATTRIBUTES_MAX = 256;
const VALUE_BYTES_MAX = 64 * 1024;

/** JSON of one content; zero bytes take six letters each. The budget's bytes bound all values together. */
const OUTPUT_MAX = 3 * 1024 * 1024;

/** Whole values; a longer one is none. */
const WHOLE: SnakeOptions = { bytesMax: VALUE_BYTES_MAX };

/** Bound of stored values: a longer value ends before the cell that exceeds it (service/interfaces/README.md#token-content). */
const START: SnakeOptions = { bytesMax: 8 * 1024, isCut: true };

/** A byte order mark is a character of the text as any other. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Empty content: unreadable, or of no known form. */
export const NO_CONTENT: TokenContent = { kind: 'onchain', attributes: new Map() };

/**
 * Reads `Content`. First byte 1: the address of the content. First byte 0: a dictionary of attributes.
 * Never throws: other cells have no content. A value that is no text is left out, and attributes end where the budget is spent.
 */
export function readTokenContent(
  cell: StackCell,
  budget: ReadBudget = new ReadBudget({ output: OUTPUT_MAX }),
): TokenContent {
  return readable(() => readContent(openContractCell(cell, budget))) ?? NO_CONTENT;
}

/**
 * Reads the stored part of a content: its `uri`, or the known attributes without zero bytes (service/interfaces/README.md#token-content).
 * `image_data` is base64. Returns undefined for other forms.
 */
export function readStoredContent(
  cell: StackCell,
  budget: ReadBudget = new ReadBudget(),
): Readonly<Record<string, string>> | undefined {
  return readable(() => {
    const slice = openContractCell(cell, budget);
    const form = slice.uint(8);
    if (form === 1) {
      const uri = asText(readSnake(slice, START));
      return uri === undefined ? undefined : { uri: withoutZeros(uri) };
    }
    return form === 0 ? readStoredAttributes(slice) : undefined;
  });
}

/** Looks up each known attribute, so that other attributes cost nothing. */
function readStoredAttributes(slice: ContractSlice): Record<string, string> {
  const root = slice.maybeRefSlice();
  const found: [string, string][] = [];
  untilSpent(slice.budget, () => {
    for (const [hex, name] of NAMES) {
      const value = lookUpEntry(root, 256, Buffer.from(hex, 'hex'));
      const text = value && readAttribute(name, value, START);
      if (text !== undefined) found.push([name, withoutZeros(text)]);
    }
  });
  return Object.fromEntries(found);
}

/** A text of Postgres has none. */
function withoutZeros(text: string): string {
  return text.replaceAll('\0', '');
}

function readContent(slice: ContractSlice): TokenContent | undefined {
  const form = slice.uint(8);
  if (form === 1) {
    const uri = asText(readSnake(slice, WHOLE));
    return uri === undefined ? undefined : { kind: 'offchain', uri: takeText(slice.budget, uri) };
  }
  return form === 0 ? { kind: 'onchain', attributes: readAttributes(slice) } : undefined;
}

/** `HashmapE 256 ^ContentData`; some tokens have the value in place of the reference. */
function readAttributes(slice: ContractSlice): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const others = new Map<string, string>();
  const root = slice.maybeRefSlice();
  untilSpent(slice.budget, () =>
    walkDictionary(root, 256, (key, value) => {
      const hex = key.toString('hex');
      const name = NAMES.get(hex);
      const text = readAttribute(name, value, WHOLE);
      if (text !== undefined) (name === undefined ? others : known).set(name ?? hex, text);
      return known.size + others.size < ATTRIBUTES_MAX;
    }),
  );
  const sorted = ATTRIBUTES.flatMap((name) => (known.has(name) ? [[name, known.get(name)!] as const] : []));
  return new Map<string, string>([...sorted, ...others]);
}

/** Runs `read` until it ends or the budget is spent: what was read by then stands. */
function untilSpent(budget: ReadBudget, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof DecodeError && budget.isSpent)) throw error;
  }
}

/** A value in a reference, as TEP-64 has it, or in its place; undefined when it is no text. Throws DecodeError `too_big`. */
function readAttribute(name: string | undefined, value: ContractSlice, options: SnakeOptions): string | undefined {
  const { budget } = value;
  const bytes = attempt(budget, () => readContentData(value.remainingBits === 0 ? value.refSlice() : value, options));
  const text = name === 'image_data' ? bytes?.toString('base64') : asText(bytes);
  return text && takeText(budget, text);
}

/** `snake#00 data:(SnakeData ~n)`, `chunks#01 data:(HashmapE 32 ^(SnakeData ~0))`, whose numbers count from 0. */
function readContentData(slice: ContractSlice, options: SnakeOptions): Buffer | undefined {
  const form = slice.uint(8);
  if (form === 0) return readSnake(slice, options);
  return form === 1 ? readChunks(slice, options) : undefined;
}

/** The chunks from number 0 to the first one that is missing. */
function readChunks(slice: ContractSlice, { bytesMax = Infinity, isCut }: SnakeOptions): Buffer | undefined {
  const chunks: Buffer[] = [];
  let length = 0;
  let isText = true;
  walkDictionary(slice.maybeRefSlice(), 32, (key, value) => {
    if (keyUint(key, 32) !== chunks.length) return false;
    const chunk = readSnake(value.refSlice(), WHOLE);
    length += chunk?.length ?? 0;
    isText = chunk !== undefined && chunk.length > 0 && (length <= bytesMax || isCut === true);
    if (!isText || length > bytesMax) return false;
    chunks.push(chunk!);
    return true;
  });
  return isText ? Buffer.concat(chunks) : undefined;
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
