import { randomBytes } from 'node:crypto';

import { HttpError } from './errors.ts';

/** Depth of arrays and objects in each other: deep stacks of get-methods (service/v2/README.md#transport). */
const DEPTH_MAX = 2048;

/**
 * Values in one body; 200,000 take some 15 ms. The longest stack, 8,000 typed entries, has 48,000. A body full of the smallest cells as
 * objects has 170,000.
 */
const VALUES_MAX = 200_000;

/** Fields of one object. The contract has some 20 names. All-different names take the parser much longer than values do. */
const FIELDS_MAX = 1_000;

/** Integers beyond 2^53 in one body: twice as many as the longest stack has. A conversion takes half a microsecond. */
const LONG_INTEGERS_MAX = 16_000;

/** A shorter body cannot exceed a bound. A level takes two bytes, a value at least two, a field at least six. */
const bytesAlwaysFine = 2 * DEPTH_MAX;

/** Shorter integers are exact as doubles. */
const EXACT_DIGITS_MAX = 15;

/** Longer integers fit no type of the contract (int256 has 77 digits). Their conversion takes quadratic time. */
const DIGITS_MAX = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body exactly: integers beyond 2^53 become bigint, as shards and logical times need. Throws HttpError `body_not_json`.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length > bytesAlwaysFine) refuseExcess(bytes);
  const text = decodeText(bytes);
  try {
    // Most bodies have no run of so many digits and need no second pass.
    return longDigits.test(text) ? parseExactly(bytes, text) : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError('body_not_json', error instanceof SyntaxError ? error.message : 'invalid JSON');
  }
}

const longDigits = new RegExp(`\\d{${EXACT_DIGITS_MAX + 1}}`);

const longInteger = new RegExp(`^-?[1-9]\\d{${EXACT_DIGITS_MAX},${DIGITS_MAX - 1}}$`);

/** Placeholder of a long integer during parsing: a prefix that callers cannot guess, then the digits. */
const mark = `${randomBytes(16).toString('hex')}:`;

/** A reviver would do the same, at some 0.7 us a value. This visit of arrays and objects costs a hundredth of that. */
function parseExactly(bytes: Uint8Array, text: string): unknown {
  const shown = markLongIntegers(bytes);
  if (shown === undefined) return JSON.parse(text) as unknown;
  try {
    return unmark(JSON.parse(shown) as unknown);
  } catch {
    // It has the same flaw, in the caller's own words.
    return JSON.parse(text) as unknown;
  }
}

/** Passes once over the bytes outside strings. @returns undefined without long integers */
function markLongIntegers(bytes: Uint8Array): string | undefined {
  let shown = '';
  let copied = 0;
  let marked = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      at = stringEnd(bytes, at);
    } else if (isInNumber(byte)) {
      const start = at;
      while (isInNumber(bytes[at + 1])) at++;
      if (at - start < EXACT_DIGITS_MAX) continue;
      const token = utf8.decode(bytes.subarray(start, at + 1));
      if (!longInteger.test(token) || Number.isSafeInteger(Number(token))) continue;
      if (++marked > LONG_INTEGERS_MAX) throw tooMany(LONG_INTEGERS_MAX, 'long integers');
      shown += `${utf8.decode(bytes.subarray(copied, start))}"${mark}${token}"`;
      copied = at + 1;
    }
  }
  return marked === 0 ? undefined : shown + utf8.decode(bytes.subarray(copied));
}

/** Digits, signs, point and exponent. */
function isInNumber(code: number | undefined): boolean {
  if (code === undefined) return false;
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || (code | 0x20) === 0x65;
}

/** Replaces marks by integers in place. Recursion is as deep as a body may be. */
function unmark(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = unmark(value[at]);
  } else if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      const field = Reflect.get(value, name) as unknown;
      const exact = unmark(field);
      if (exact !== field) Reflect.set(value, name, exact);
    }
  }
  return value;
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
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Checks depth, values and fields in one pass over the bytes outside strings, before anything is built. */
function refuseExcess(bytes: Uint8Array): void {
  /** Per level: items after the first, and whether the items are fields. */
  const items = new Uint32Array(DEPTH_MAX + 1);
  const isObject = new Uint8Array(DEPTH_MAX + 1);
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === comma) {
      values++;
      if (++items[depth]! >= FIELDS_MAX && isObject[depth] === 1) throw tooMany(FIELDS_MAX, 'fields in an object');
    } else if (byte === closeBracket || byte === closeBrace) depth = Math.max(0, depth - 1);
    else if (byte === openBracket || byte === openBrace) {
      values++;
      if (++depth > DEPTH_MAX) throw new HttpError('body_not_json', `nested deeper than ${DEPTH_MAX}`);
      items[depth] = 0;
      isObject[depth] = byte === openBrace ? 1 : 0;
    }
    if (values > VALUES_MAX) throw tooMany(VALUES_MAX, 'values');
  }
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
