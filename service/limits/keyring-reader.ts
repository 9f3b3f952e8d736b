import { createHash } from 'node:crypto';

import { LimitsError } from './errors.ts';
import { keyringRowFields } from '../config/keyring-row.ts';
import { createKeyTableBuilder, type BuiltTerms, type KeyTableBuilder, type PackedKeys } from './key-table.ts';
import { isRecord, readTerms } from './key-terms.ts';

/** Reads the files of a keyring one after the other. */
export type KeyringReader = {
  /** Reads a whole file. Throws LimitsError `keyring_invalid` with the problems found, at most 20. */
  read(file: Buffer): void;
  end(): { readonly keys: PackedKeys; readonly sha256: string };
};

/** Most reported problems. The first ones show the cause. */
const PROBLEMS_MAX = 20;

/** Most cached texts of terms. Rows of most keyrings differ by id and hash only. */
const KNOWN_TERMS_MAX = 4096;

const fieldNames: ReadonlySet<string> = new Set(keyringRowFields);

/** Lower bound of the bytes of a row. It bounds the rows of a file. */
const ROW_BYTES_MIN = 100;

const ID = /^[0-9A-Za-z]{12}$/;
const SHA256 = /^[0-9A-Fa-f]{64}$/;

/** @param bytesExpected bytes of all files together, so that the table need not grow */
export function createKeyringReader(bytesExpected = 0): KeyringReader {
  const builder = createKeyTableBuilder(Math.ceil(bytesExpected / ROW_BYTES_MIN));
  const digest = createHash('sha256');
  const known = new Map<string, BuiltTerms>();

  return {
    read(file) {
      digest.update(file);
      const problems: string[] = [];
      for (const [index, row] of rowsOf(file).entries()) {
        if (problems.length >= PROBLEMS_MAX) break;
        readRow(row, `keys[${index}]`, builder, known, problems);
      }
      if (problems.length > 0) throw new LimitsError('keyring_invalid', problems.slice(0, PROBLEMS_MAX));
      builder.nextPart();
    },
    end: () => ({ keys: builder.build(), sha256: digest.digest('hex') }),
  };
}

/** Returns the array `keys` of a file. */
function rowsOf(file: Buffer): readonly unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(file.toString('utf8'));
  } catch {
    // The parser's message quotes the text, which may contain a key pasted by mistake.
    throw new LimitsError('keyring_invalid', ['keyring file: expected JSON']);
  }
  const { keys, ...others } = isRecord(document) ? document : {};
  if (!Array.isArray(keys)) throw new LimitsError('keyring_invalid', ['keys: expected an array']);
  if (Object.values(others).some((value) => typeof value === 'object' && value !== null)) {
    throw new LimitsError('keyring_invalid', ['expected no objects but in keys']);
  }
  return keys;
}

/** Adds a row to the table, or its problems to the list. */
function readRow(
  row: unknown,
  path: string,
  builder: KeyTableBuilder,
  known: Map<string, BuiltTerms>,
  problems: string[],
): void {
  if (!isRecord(row)) {
    problems.push(`${path}: expected an object`);
    return;
  }
  const before = problems.length;
  const { id, sha256, ...fields } = row;
  if (typeof id !== 'string' || !ID.test(id)) problems.push(`${path}.id: expected 12 base-62 digits`);
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) problems.push(`${path}.sha256: expected 64 hex digits`);
  const terms = termsOf(fields, path, builder, known, problems);
  if (problems.length > before || terms === undefined) return;
  if (!builder.add(String(id), String(sha256), terms)) problems.push(`key id ${String(id)} is there twice`);
}

/** Returns the terms of a row; undefined when they are invalid. Rows with equal terms share them. */
function termsOf(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  builder: KeyTableBuilder,
  known: Map<string, BuiltTerms>,
  problems: string[],
): BuiltTerms | undefined {
  const text = JSON.stringify(fields);
  const shared = known.get(text);
  if (shared !== undefined) return shared;
  const before = problems.length;
  const { plan } = readTerms(fields, path, problems);
  if (!Object.keys(fields).every((name) => fieldNames.has(name))) {
    problems.push(`${path}.*: expected only the fields ${keyringRowFields.join(', ')}`);
  }
  if (problems.length > before) return undefined;
  const terms = builder.addTerms(text, plan);
  if (known.size < KNOWN_TERMS_MAX) known.set(text, terms);
  return terms;
}
