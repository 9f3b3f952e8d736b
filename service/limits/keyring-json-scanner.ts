/** Finds the rows of a keyring file, byte by byte, in pieces of any size. */
export type KeyringJsonScanner = {
  feed(chunk: Buffer): void;
  /**
   * Returns the text around the rows, with `{"rows":n}` in place of n consecutive rows. Undefined when the file is cut off, or too long for its
   * contents.
   */
  end(): string | undefined;
};

/** Called for a row in `bytes` from `from` up to `to`; `index` is its position in the array. `hasHead`: the row starts as rows of the operator do. */
export type OnRow = (bytes: Buffer, from: number, to: number, index: number, hasHead: boolean) => void;

/** Most bytes of a row, and of the text around the rows. Both are far above valid contents. */
const ROW_BYTES_MAX = 64 * 1024;
const FRAME_BYTES_MAX = 1024 * 1024;

/** Most bytes between two rows: a comma and little else. */
const GAP_BYTES_MAX = 1024;

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma] = [...Buffer.from('"\\{}[],')];

/** Offsets in `{"id":"<12>","sha256":"<64>",`, the start of a row written by the operator. */
export const head = { id: 7, middle: 19, hash: 31, tail: 95, end: 97 };

const headTexts = [
  { at: 0, bytes: Buffer.from('{"id":"') },
  { at: head.middle, bytes: Buffer.from('","sha256":"') },
  { at: head.tail, bytes: Buffer.from('",') },
];

/** Number of cached row ends, such as `"plan":"pro"}`. A cached end is not scanned again. */
const TAILS_KEPT = 4;

export function createKeyringJsonScanner(onRow: OnRow): KeyringJsonScanner {
  const frame: Buffer[] = [];
  let frameBytes = 0;
  /** Row that began in an earlier chunk. */
  let open = Buffer.alloc(0);
  let inRow = false;
  let hasHead = false;
  let depth = 0;
  let inText = false;
  let escaped = false;
  let index = 0;
  let tooLong = false;
  /** Rows since the last text of the frame, and the text after the last of them. */
  let run = 0;
  let gap = Buffer.alloc(0);
  const tails: Buffer[] = [];

  const toFrame = (bytes: Buffer): void => {
    frameBytes += bytes.length;
    tooLong ||= frameBytes > FRAME_BYTES_MAX;
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
    if (gap.length > GAP_BYTES_MAX) endRun();
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

  /** Returns the end of a row whose head ends at `at`, if its tail is cached. Returns -1 when the row must be scanned. */
  const knownEnd = (bytes: Buffer, at: number): number => {
    for (const tail of tails) if (startsWith(bytes, at, tail)) return at + tail.length;
    return -1;
  };

  const remember = (tail: Buffer): void => {
    if (tails.length === TAILS_KEPT) tails.pop();
    tails.unshift(Buffer.from(tail));
  };

  /** Adds the text between two rows to the frame, unless it is a comma. */
  const enterRow = (bytes: Buffer, from: number, at: number): void => {
    if (run > 0 && gap.length === 0 && isCommaOnly(bytes, from, at)) return;
    toGap(bytes.subarray(from, at));
    if (run > 0 && isCommaOnly(gap, 0, gap.length)) gap = Buffer.alloc(0);
    else endRun();
  };

  const scan = (bytes: Buffer): number => {
    let from = 0;
    for (let at = open.length; at < bytes.length; at++) {
      const starts = !inRow && !inText && depth === 2 && bytes[at] === openBrace;
      if (starts) {
        enterRow(bytes, from, at);
        hasHead = isHead(bytes, at);
        const end = hasHead ? knownEnd(bytes, at + head.end) : -1;
        if (end >= 0) {
          onRow(bytes, at, end, index, true);
          run++;
          from = end;
          at = end - 1;
          continue;
        }
        [from, inRow] = [at, true];
        depth++;
        if (hasHead) at += head.end - 1;
        continue;
      }
      step(bytes[at]);
      if (inRow && !inText && depth === 2) {
        onRow(bytes, from, at + 1, index, hasHead);
        if (hasHead) remember(bytes.subarray(from + head.end, at + 1));
        run++;
        [from, inRow] = [at + 1, false];
      }
    }
    return from;
  };

  return {
    feed(chunk) {
      if (tooLong) return;
      const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
      const from = scan(bytes);
      if (!inRow) toGap(bytes.subarray(from));
      open = inRow ? Buffer.from(bytes.subarray(from)) : Buffer.alloc(0);
      tooLong ||= open.length > ROW_BYTES_MAX;
    },
    end() {
      endRun();
      return tooLong || inRow ? undefined : Buffer.concat(frame).toString('utf8');
    },
  };
}

/** Reports whether the row at `at` starts with a complete head. */
function isHead(bytes: Buffer, at: number): boolean {
  return bytes.length >= at + head.end && headTexts.every((text) => startsWith(bytes, at + text.at, text.bytes));
}

function startsWith(bytes: Buffer, at: number, start: Buffer): boolean {
  if (bytes.length < at + start.length) return false;
  for (let index = 0; index < start.length; index++) if (bytes[at + index] !== start[index]) return false;
  return true;
}

/** Reports whether the bytes are one comma among blanks. */
function isCommaOnly(bytes: Buffer, from: number, to: number): boolean {
  let commas = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === comma) commas++;
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return commas === 1;
}
