import { parse } from 'lossless-json';

import { ARGUMENTS_MAX } from '../contract/stack-arguments.ts';
import { HttpError } from './errors.ts';

/** Depth of arrays and objects in each other: deep stacks of get-methods (service/v2/README.md#transport). */
const DEPTH_MAX = 2048;

/** Values in one body. 200,000 take 20 to 60 ms. A body full of the smallest cells as objects has 170,000. */
const VALUES_MAX = 200_000;

/** Fields of one object. The contract has some 20 names. All-different names take the parser much longer than values do. */
const FIELDS_MAX = 1_000;

/** Bytes of a value of a long body, on average, from which V8's parser takes it: a list of addresses has 50. A short body may have 2. */
const LIGHT_VALUE_BYTES = 32;

/** Integers beyond 2^53 in one body. A conversion takes half a microsecond. */
const LONG_INTEGERS_MAX = 16_000;

/** A shorter body cannot exceed a bound. A level takes two bytes, a value at least two, a field at least six. */
const bytesAlwaysFine = 2 * DEPTH_MAX;

/** Shorter integers are exact as doubles. */
const EXACT_DIGITS_MAX = 15;

/** Longer integers fit no type of the contract (int256 has 77 digits). Their conversion takes quadratic time. */
const DIGITS_MAX = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body exactly: integers beyond 2^53 become bigint, as shards and logical times need.
 * A short body, or one of long values, takes V8's parser, which is several times as fast. That parser also enters each string of up to ten characters into a table of the
 * whole process. Millions of them, from long bodies of short strings, stop the process for half a second when the table grows.
 * @throws HttpError `body_not_json`, `stack_too_long`
 */
export function parseJson(bytes: Uint8Array): unknown {
  const isShort = bytes.length <= bytesAlwaysFine;
  const counts = isShort ? undefined : countValues(bytes);
  const text = decodeText(bytes);
  const isLight = counts === undefined || counts.values * LIGHT_VALUE_BYTES <= bytes.length;
  const hasLongDigits = counts === undefined ? longDigits.test(text) : counts.hasLongDigits;
  try {
    return isLight && !hasLongDigits ? (JSON.parse(text) as unknown) : parseExactly(text);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError('body_not_json', error instanceof SyntaxError ? error.message : 'invalid JSON');
  }
}

const longDigits = new RegExp(`\\d{${EXACT_DIGITS_MAX + 1}}`);

const longInteger = new RegExp(`^-?[1-9]\\d{${EXACT_DIGITS_MAX},${DIGITS_MAX - 1}}$`);

function parseExactly(text: string): unknown {
  let longIntegers = 0;
  const parseNumber = (token: string): number | bigint => {
    const value = Number(token);
    if (token.length <= EXACT_DIGITS_MAX || Number.isSafeInteger(value) || !longInteger.test(token)) return value;
    if (++longIntegers > LONG_INTEGERS_MAX) throw tooMany(LONG_INTEGERS_MAX, 'long integers');
    return BigInt(token);
  };
  return parse(text, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError('body_not_json', 'invalid UTF-8');
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const zero = 0x30;
const nine = 0x39;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Field of every get-method's arguments. */
const stackField = Buffer.from('"stack"');

type Counts = {
  readonly values: number;
  /** A number may have more digits than a double. Long hex strings, such as addresses, do not count. */
  readonly hasLongDigits: boolean;
};

/**
 * Counts values, and checks depth, values, fields and arguments in one pass over the bytes outside strings, before anything is built.
 * @throws HttpError `body_not_json`, `stack_too_long`
 */
function countValues(bytes: Uint8Array): Counts {
  /** Per level: items after the first, and the kind of list. */
  const items = new Uint32Array(DEPTH_MAX + 1);
  const lists: (ListBound | null)[] = [null];
  let depth = 0;
  let values = 1;
  let digits = 0;
  let hasLongDigits = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    digits = byte >= zero && byte <= nine ? digits + 1 : 0;
    if (digits > EXACT_DIGITS_MAX) hasLongDigits = true;
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === comma) {
      values++;
      const list = lists[depth];
      if (++items[depth]! >= (list?.max ?? VALUES_MAX)) throw list?.refusal() ?? tooMany(VALUES_MAX, 'values');
    } else if (byte === closeBracket || byte === closeBrace) depth = Math.max(0, depth - 1);
    else if (byte === openBracket || byte === openBrace) {
      values++;
      if (++depth > DEPTH_MAX) throw new HttpError('body_not_json', `nested deeper than ${DEPTH_MAX}`);
      items[depth] = 0;
      lists[depth] = byte === openBrace ? objectBound : isStack(bytes, at) ? stackBound : null;
    }
    if (values > VALUES_MAX) throw tooMany(VALUES_MAX, 'values');
  }
  return { values, hasLongDigits };
}

/** Bound on the items of one kind of list. */
type ListBound = { readonly max: number; readonly refusal: () => HttpError };

const objectBound: ListBound = { max: FIELDS_MAX, refusal: () => tooMany(FIELDS_MAX, 'fields in an object') };

/** A longer stack is refused here: 8,000 arguments take the parser 3 to 8 ms. */
const stackBound: ListBound = {
  max: ARGUMENTS_MAX,
  refusal: () => new HttpError('stack_too_long', `more than ${ARGUMENTS_MAX} arguments`),
};

/** Returns whether the list that opens at `start` is the value of a field `stack`. */
function isStack(bytes: Uint8Array, start: number): boolean {
  const colonAt = lastVisible(bytes, start - 1);
  if (bytes[colonAt] !== colon) return false;
  const nameEnd = lastVisible(bytes, colonAt - 1) + 1;
  const nameStart = nameEnd - stackField.length;
  return nameStart >= 0 && stackField.equals(bytes.subarray(nameStart, nameEnd));
}

/** Returns the last index up to `at` that is no blank, or -1. */
function lastVisible(bytes: Uint8Array, at: number): number {
  while (at >= 0 && bytes[at]! <= 0x20) at--;
  return at;
}

function tooMany(max: number, what: string): HttpError {
  return new HttpError('body_not_json', `more than ${max} ${what}`);
}

/** Returns the index of the quote that ends the string starting at `start`. At least the length of the input when there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
