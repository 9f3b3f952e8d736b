import { HttpError } from './errors.ts';

/** Depth of arrays and objects in each other: deep stacks of get-methods (v2 sheet section 1). */
const depthMax = 2048;

/**
 * Values in one body. Exact parsing visits each of them, 20,000 in some 15 ms; a full batch or the deepest stack needs a tenth.
 */
const valuesMax = 20_000;

/** A shorter body can break neither bound: a level takes two bytes, a value at least two. */
const bytesAlwaysFine = 2 * depthMax;

/** Longer integers fit no type of the contract (int256 has 77 digits), and converting them takes time that grows with the square. */
const digitsMax = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body exactly: integers beyond 2^53 become bigint, as shards and logical times need. Throws HttpError `body_not_json`.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length > bytesAlwaysFine) refuseExcess(bytes);
  const text = decodeText(bytes);
  try {
    // Only a run of 16 digits can be an integer that a double does not hold; most bodies have none and need no second pass.
    return /\d{16}/.test(text) ? (JSON.parse(text, exactInteger as Reviver) as unknown) : (JSON.parse(text) as unknown);
  } catch (error) {
    throw new HttpError('body_not_json', error instanceof SyntaxError ? error.message : 'invalid JSON');
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError('body_not_json', 'invalid UTF-8');
  }
}

/** What TypeScript knows of a reviver; the source text as a third argument is newer. */
type Reviver = (key: string, value: unknown) => unknown;

function exactInteger(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return source.length <= digitsMax && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** One pass over the bytes outside strings: depth and number of values, before anything is built. */
function refuseExcess(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === comma) values++;
    else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === openBracket || byte === openBrace) {
      values++;
      depth++;
      if (depth > depthMax) throw new HttpError('body_not_json', `nested deeper than ${depthMax}`);
    }
    if (values > valuesMax) throw new HttpError('body_not_json', `more than ${valuesMax} values`);
  }
}

/** Index of the quote that ends the string starting at `start`; the end of the input when there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
