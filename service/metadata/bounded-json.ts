import { MetadataError } from './errors.ts';

/** Object in JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Most levels of lists and objects. Attributes of an item are at the third. */
const DEPTH_MAX = 32;

/** Most values in all. A page of 10 MiB may have five million values, each far larger in memory than its text. */
const VALUES_MAX = 20_000;

const [quote, backslash, openObject, closeObject, openList, closeList, comma] = [...Buffer.from('"\\{}[],')];

/** Checks JSON as it arrives, so that JSON too large for the parser is never parsed. */
export type JsonGuard = {
  /** @throws MetadataError `too_complex` */
  see(chunk: Uint8Array): void;
};

/** Creates a guard that counts possible structure. Text that is no JSON at all is left to the parser. */
export function createJsonGuard(): JsonGuard {
  let depth = 0;
  let values = 0;
  let isString = false;
  let isEscaped = false;
  return {
    see(chunk) {
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at];
        if (isString) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) isString = false;
        } else if (byte === quote) isString = true;
        else if (byte === openObject || byte === openList) {
          depth++;
          values++;
          if (depth > DEPTH_MAX) throw new MetadataError('too_complex', `JSON of more than ${DEPTH_MAX} levels`);
        } else if (byte === closeObject || byte === closeList) depth--;
        else if (byte === comma) values++;
      }
      if (values > VALUES_MAX) throw new MetadataError('too_complex', `JSON of more than ${VALUES_MAX} values`);
    },
  };
}

/**
 * Parses an object from bytes that a guard accepted.
 *
 * @throws MetadataError `not_json`
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  // Drops a byte order mark; bytes that are no UTF-8 become U+FFFD.
  const text = new TextDecoder().decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the page, so it is not used.
    throw new MetadataError('not_json', 'not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MetadataError('not_json', 'JSON, but no object');
  }
  return value as JsonObject;
}
