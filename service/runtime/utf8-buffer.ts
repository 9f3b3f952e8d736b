/** Growing UTF-8 text outside of the heap. Each garbage collection would copy strings of an answer. */
export type Utf8Buffer = {
  /** @param text a string, or bytes of UTF-8, which must not change any more: many are not copied */
  readonly add: (text: string | Uint8Array) => void;
  /** Adds a text like `add`. @returns bytes of the text, which stay unchanged while in use */
  readonly place: (text: string) => Buffer;
  /** All added text, in order. Add nothing afterwards. */
  readonly pieces: () => readonly Buffer[];
};

/** Most answers are below. */
const FIRST_BYTES = 16_384;

const PIECE_BYTES = 262_144;

/** Texts from this size on are separate pieces: copying them takes longer than sending another piece. */
const OWN_PIECE_BYTES = 65_536;

export function createUtf8Buffer(): Utf8Buffer {
  const full: Buffer[] = [];
  let piece = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let at = 0;

  const makeRoom = (bytes: number): void => {
    if (at + bytes <= piece.length) return;
    if (at > 0) full.push(piece.subarray(0, at));
    piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, bytes));
    at = 0;
  };
  const addWhole = (bytes: Uint8Array): void => {
    if (at > 0) full.push(piece.subarray(0, at));
    full.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    piece = piece.subarray(at);
    at = 0;
  };
  /** @returns where the text begins */
  const write = (text: string): number => {
    // A character takes at most three bytes: counted only where there may be too few.
    if (at + text.length * 3 > piece.length) makeRoom(Buffer.byteLength(text));
    const start = at;
    at += piece.write(text, at);
    return start;
  };
  const copy = (bytes: Uint8Array): void => {
    makeRoom(bytes.length);
    piece.set(bytes, at);
    at += bytes.length;
  };
  return {
    add(text) {
      if (typeof text === 'string') write(text);
      else if (text.length < OWN_PIECE_BYTES) copy(text);
      else addWhole(text);
    },
    place(text) {
      const start = write(text);
      return piece.subarray(start, at);
    },
    pieces: () => (at === 0 ? full : [...full, piece.subarray(0, at)]),
  };
}
