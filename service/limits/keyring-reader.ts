import { createHash } from 'node:crypto';

import { LimitsError } from './errors.ts';
import { createKeyTableBuilder, type KeyTable, type KeyTerms } from './key-table.ts';
import { isRecord, readTerms, termFields } from './key-terms.ts';
import { isKeyId } from './keys.ts';

/** Reads a keyring file piece by piece, so that a million keys need no gigabyte and do not hold up requests. */
export type KeyringReader = {
  feed(bytes: Buffer): void;
  /** Throws LimitsError `keyring_invalid` with the problems found, at most 20. */
  end(): { readonly table: KeyTable; readonly sha256: string };
};

/** The first problems tell what is wrong; a million would not. */
const problemsMax = 20;

/** Longest row and longest rest of the file around the rows; both far above what they may hold. */
const rowBytesMax = 64 * 1024;
const frameBytesMax = 1024 * 1024;

/** Between two rows is a comma and little else. */
const gapBytesMax = 1024;

/** Rows of most keyrings differ by id and hash only; terms of further texts are read one by one. */
const knownTermsMax = 4096;

const fieldNames: ReadonlySet<string> = new Set(['id', 'sha256', ...termFields]);

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma] = [...Buffer.from('"\\{}[],')];

/** `{"id":"<12>","sha256":"<64>",`: how the rows start that we write ourselves. */
const head = { id: 7, middle: 19, hash: 31, tail: 95, end: 97 };

/**
 * Finds the objects in the array at depth 2 byte by byte and hands each to `onRow`; what is around them is the frame, with
 * `{"rows":n}` in the place of n rows that follow each other.
 */
function createRowScanner(onRow: (row: Buffer, index: number, hasHead: boolean) => void) {
  const frame: Buffer[] = [];
  let frameBytes = 0;
  /** A row that began in an earlier chunk. */
  let open = Buffer.alloc(0);
  let inRow = false;
  let hasHead = false;
  let depth = 0;
  let inText = false;
  let escaped = false;
  let index = 0;
  let tooLong = false;
  /** Rows since the last text that went to the frame, and what came after the last of them. */
  let run = 0;
  let gap = Buffer.alloc(0);

  const toFrame = (bytes: Buffer): void => {
    frameBytes += bytes.length;
    tooLong ||= frameBytes > frameBytesMax;
    if (!tooLong) frame.push(Buffer.from(bytes));
  };

  const endRun = (): void => {
    if (run > 0) toFrame(Buffer.from(`{"rows":${run}}`));
    toFrame(gap);
    run = 0;
    gap = Buffer.alloc(0);
  };

  const toGap = (bytes: Buffer): void => {
    gap = gap.length === 0 ? Buffer.from(bytes) : Buffer.concat([gap, bytes]);
    if (gap.length > gapBytesMax) endRun();
  };

  const step = (byte: number | undefined): void => {
    if (inText) {
      if (escaped) escaped = false;
      else if (byte === backslash) escaped = true;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma && depth === 2) index++;
  };

  return {
    feed(chunk: Buffer): void {
      if (tooLong) return;
      const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
      let from = 0;
      for (let at = open.length; at < bytes.length; at++) {
        const starts = !inRow && !inText && depth === 2 && bytes[at] === openBrace;
        step(bytes[at]);
        if (starts) {
          toGap(bytes.subarray(from, at));
          if (run > 0 && gap.toString('latin1').trim() === ',') gap = Buffer.alloc(0);
          else endRun();
          [from, inRow, hasHead] = [at, true, isHead(bytes, at)];
          if (hasHead) at += head.end - 1;
        } else if (inRow && !inText && depth === 2) {
          onRow(bytes.subarray(from, at + 1), index, hasHead);
          run++;
          [from, inRow] = [at + 1, false];
        }
      }
      if (!inRow) toGap(bytes.subarray(from));
      open = inRow ? Buffer.from(bytes.subarray(from)) : Buffer.alloc(0);
      tooLong ||= open.length > rowBytesMax;
    },
    /** The frame's text; undefined when the file is cut off or too long for what it holds. */
    end(): string | undefined {
      endRun();
      return tooLong || inRow ? undefined : Buffer.concat(frame).toString('utf8');
    },
  };
}

/** Whether the row at `at` starts as our own rows do, and all of that start is there. */
function isHead(bytes: Buffer, at: number): boolean {
  return (
    bytes.length >= at + head.end &&
    bytes.toString('latin1', at, at + head.id) === '{"id":"' &&
    bytes.toString('latin1', at + head.middle, at + head.hash) === '","sha256":"' &&
    bytes.toString('latin1', at + head.tail, at + head.end) === '",'
  );
}

export function createKeyringReader(): KeyringReader {
  const builder = createKeyTableBuilder();
  const problems: string[] = [];
  const digest = createHash('sha256');
  const knownTerms = new Map<string, KeyTerms>();
  let unreadable = false;
  let rows = 0;

  const add = (id: unknown, sha256: unknown, termsOf: () => KeyTerms, path: string): void => {
    const before = problems.length;
    const goodId = typeof id === 'string' && isKeyId(id);
    const goodHash = typeof sha256 === 'string' && /^[0-9a-fA-F]{64}$/.test(sha256);
    if (!goodId) problems.push(`${path}.id: expected 12 base-62 digits`);
    if (!goodHash) problems.push(`${path}.sha256: expected 64 hex digits`);
    const terms = termsOf();
    if (!goodId || !goodHash || problems.length > before) return;
    if (!builder.add(id, sha256, terms)) problems.push(`key id ${id} is there twice`);
  };

  /** Rows of one text have one object of terms. */
  const termsFrom = (text: string, path: string): KeyTerms => {
    const known = knownTerms.get(text);
    if (known !== undefined) return known;
    const before = problems.length;
    const fields = JSON.parse(text) as Record<string, unknown>;
    const terms = readTerms(fields, path, problems);
    refuseStrangers(fields, path, problems);
    if (problems.length === before && knownTerms.size < knownTermsMax) knownTerms.set(text, terms);
    return terms;
  };

  const scanner = createRowScanner((row, index, hasHead) => {
    rows++;
    if (unreadable || problems.length >= problemsMax) return;
    const path = `keys[${index}]`;
    try {
      if (hasHead) {
        const rest = (): KeyTerms => termsFrom(`{${row.toString('utf8', head.end, row.length)}`, path);
        add(row.toString('latin1', head.id, head.middle), row.toString('latin1', head.hash, head.tail), rest, path);
        return;
      }
      const fields = JSON.parse(row.toString('utf8')) as Record<string, unknown>;
      add(fields['id'], fields['sha256'], () => readTerms(fields, path, problems), path);
      refuseStrangers(fields, path, problems);
    } catch {
      // The parser's own message quotes the text, which may hold a key put there by mistake.
      unreadable = true;
    }
  });

  return {
    feed(bytes) {
      digest.update(bytes);
      scanner.feed(bytes);
    },
    end() {
      const elements = unreadable ? undefined : elementsOf(scanner.end());
      if (elements === undefined) throw new LimitsError('keyring_invalid', ['keyring file: expected JSON']);
      if (elements === null) throw new LimitsError('keyring_invalid', ['keys: expected an array']);
      let index = 0;
      for (const element of elements) {
        if (!isRecord(element)) problems.push(`keys[${index}]: expected an object`);
        index += isRecord(element) ? Number(element['rows']) : 1;
      }
      if (problems.length === 0 && index !== rows) problems.push('expected no objects but in keys');
      if (problems.length > 0) throw new LimitsError('keyring_invalid', problems.slice(0, problemsMax));
      return { table: builder.build(), sha256: digest.digest('hex') };
    },
  };
}

/** The array of the frame; null when there is none, undefined when the frame is no JSON. */
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

function refuseStrangers(fields: object, path: string, problems: string[]): void {
  if (Object.keys(fields).every((name) => fieldNames.has(name))) return;
  problems.push(`${path}.*: expected only the fields ${[...fieldNames].join(', ')}`);
}
