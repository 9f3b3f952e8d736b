import { createHash } from 'node:crypto';

import { LimitsError } from './errors.ts';
import { keyringRowFields } from '../config/keyring-row.ts';
import {
  createKeyTableBuilder,
  HASH_BYTES,
  hexValues,
  type BuiltTerms,
  type KeyTableBuilder,
  type PackedKeys,
} from './key-table.ts';
import { isRecord, readTerms } from './key-terms.ts';
import { idLength, isDigit62 } from './keys.ts';
import { createKeyringJsonScanner, head } from './keyring-json-scanner.ts';

/** Reads the files of a keyring one after the other, in pieces. A million keys need less than a gigabyte and do not block requests. */
export type KeyringReader = {
  feed(bytes: Buffer): void;
  /** Ends a file: the bytes fed since the last call are a whole file. Throws LimitsError `keyring_invalid` with the problems found, at most 20. */
  endFile(): void;
  end(): { readonly keys: PackedKeys; readonly sha256: string };
};

/** Most reported problems. The first ones show the cause. */
const PROBLEMS_MAX = 20;

/** Most cached texts of terms. Rows of most keyrings differ by id and hash only; other texts are parsed one by one. */
const KNOWN_TERMS_MAX = 4096;

const fieldNames: ReadonlySet<string> = new Set(keyringRowFields);

/** Lower bound of the bytes of a row. It bounds the rows of a file. */
const ROW_BYTES_MIN = 100;

/** @param bytesExpected bytes of all files together, so that the table need not grow */
export function createKeyringReader(bytesExpected = 0): KeyringReader {
  const builder = createKeyTableBuilder(Math.ceil(bytesExpected / ROW_BYTES_MIN));
  const problems: string[] = [];
  const digest = createHash('sha256');
  const terms = createTermsReader(builder, problems);
  let unreadable = false;
  let rows = 0;

  const add = (
    bytes: Buffer,
    idAt: number,
    sha256At: number,
    path: string,
    termsOf: () => BuiltTerms | undefined,
  ): void => {
    const before = problems.length;
    const goodId = isAll(bytes, idAt, idLength, isDigit62);
    const goodHash = isAll(bytes, sha256At, 2 * HASH_BYTES, isHexDigit);
    if (!goodId) problems.push(`${path}.id: expected 12 base-62 digits`);
    if (!goodHash) problems.push(`${path}.sha256: expected 64 hex digits`);
    const found = termsOf();
    if (!goodId || !goodHash || found === undefined || problems.length > before) return;
    if (!builder.add(bytes, idAt, sha256At, found)) {
      problems.push(`key id ${bytes.toString('latin1', idAt, idAt + idLength)} is there twice`);
    }
  };

  const readRow = (bytes: Buffer, from: number, to: number, index: number, hasHead: boolean): void => {
    rows++;
    if (unreadable || problems.length >= PROBLEMS_MAX) return;
    const path = `keys[${index}]`;
    try {
      if (hasHead) {
        add(bytes, from + head.id, from + head.hash, path, () => terms.fromTail(bytes, from + head.end, to, path));
        return;
      }
      const fields = JSON.parse(bytes.toString('utf8', from, to)) as Record<string, unknown>;
      const { id, sha256 } = fields;
      const pair = Buffer.from(`${ofLength(id, idLength)}${ofLength(sha256, 2 * HASH_BYTES)}`, 'latin1');
      add(pair, 0, idLength, path, () => terms.fromFields(fields, path));
    } catch {
      // The parser's message quotes the text, which may contain a key pasted by mistake.
      unreadable = true;
    }
  };

  let scanner = createKeyringJsonScanner(readRow);

  /** Checks the frame: the text around the rows must be that of a keyring. */
  const endFile = (): void => {
    const elements = unreadable ? undefined : elementsOf(scanner.end());
    if (elements === undefined) throw new LimitsError('keyring_invalid', ['keyring file: expected JSON']);
    if (elements === null) throw new LimitsError('keyring_invalid', ['keys: expected an array']);
    let index = 0;
    for (const element of elements) {
      if (!isRecord(element)) problems.push(`keys[${index}]: expected an object`);
      index += isRecord(element) ? Number(element['rows']) : 1;
    }
    if (problems.length === 0 && index !== rows) problems.push('expected no objects but in keys');
    if (problems.length > 0) throw new LimitsError('keyring_invalid', problems.slice(0, PROBLEMS_MAX));
    rows = 0;
    scanner = createKeyringJsonScanner(readRow);
    builder.nextPart();
  };

  return {
    feed(bytes) {
      digest.update(bytes);
      scanner.feed(bytes);
    },
    endFile,
    end: () => ({ keys: builder.build(), sha256: digest.digest('hex') }),
  };
}

/** Parses terms; returns undefined when they are invalid. Rows with equal texts share their terms. */
function createTermsReader(builder: KeyTableBuilder, problems: string[]) {
  const known = new Map<string, BuiltTerms>();
  let last: { readonly tail: Buffer; readonly terms: BuiltTerms } | undefined;

  const fromFields = (fields: Readonly<Record<string, unknown>>, path: string): BuiltTerms | undefined => {
    const before = problems.length;
    const { plan } = readTerms(fields, path, problems);
    if (!Object.keys(fields).every((name) => fieldNames.has(name))) {
      problems.push(`${path}.*: expected only the fields ${keyringRowFields.join(', ')}`);
    }
    if (problems.length > before) return undefined;
    const text = JSON.stringify({ ...fields, id: undefined, sha256: undefined });
    const terms = known.get(text) ?? builder.addTerms(text, plan);
    if (known.size < KNOWN_TERMS_MAX) known.set(text, terms);
    return terms;
  };

  return {
    fromFields,
    /** Returns the terms of a row whose fields besides id and hash are at `from` up to `to`. */
    fromTail(bytes: Buffer, from: number, to: number, path: string): BuiltTerms | undefined {
      if (last?.tail.length === to - from && last.tail.compare(bytes, from, to) === 0) return last.terms;
      const text = `{${bytes.toString('utf8', from, to)}`;
      const terms = known.get(text) ?? fromFields(JSON.parse(text) as Record<string, unknown>, path);
      if (terms === undefined) return undefined;
      if (known.size < KNOWN_TERMS_MAX) known.set(text, terms);
      last = { tail: Buffer.from(bytes.subarray(from, to)), terms };
      return terms;
    },
  };
}

function isAll(bytes: Buffer, from: number, length: number, is: (byte: number) => boolean): boolean {
  for (let at = from; at < from + length; at++) if (!is(bytes[at] ?? 0)) return false;
  return true;
}

const isHexDigit = (byte: number): boolean => hexValues[byte] !== 255;

/** Returns text of this length. Any other value becomes a text that no key has. */
function ofLength(value: unknown, length: number): string {
  return typeof value === 'string' && value.length === length && /^[ -~]*$/.test(value) ? value : '-'.repeat(length);
}

/** Returns the array of the frame; null when the frame has none, undefined when it is no JSON. */
function elementsOf(frame: string | undefined): unknown[] | null | undefined {
  if (frame === undefined) return undefined;
  try {
    const document: unknown = JSON.parse(frame);
    const keys = isRecord(document) ? document['keys'] : undefined;
    return Array.isArray(keys) ? keys : null;
  } catch {
    return undefined;
  }
}
