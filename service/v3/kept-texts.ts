import type { PacedText } from '../contract/paced.ts';
import { createBoundedCache } from '../live/bounded-cache.ts';

/** JSON that never changes, and what else is known of it: the least recently asked for goes first. */
export type KeptTexts<T> = {
  get(key: string): Kept<T> | undefined;
  /** @param namesBytes what `names` is taken to weigh */
  keep(key: string, text: PacedText, names: T, namesBytes: number): void;
  readonly bytes: () => number;
};

export type Kept<T> = { readonly text: () => string; readonly names: T };

export type KeptTextsDependencies = {
  /** Told of each that is asked for whether it was there. */
  readonly counted: (isKept: boolean) => void;
};

/** What an entry takes beside its text and its names. */
const ENTRY_BYTES = 300;

/** Texts are kept as bytes outside of the heap, where collections do not pass over them. */
export function createKeptTexts<T>(
  options: { readonly bytesMax: number },
  { counted }: KeptTextsDependencies,
): KeptTexts<T> {
  const cache = createBoundedCache(options);
  return {
    get(key) {
      const kept = cache.get(key) as Kept<T> | undefined;
      counted(kept !== undefined);
      return kept;
    },
    keep(key, text, names, namesBytes) {
      const pieces = [text].flat();
      const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
      // Of its own: a part of Node's pool of small buffers would hold all of that.
      const bytes = Buffer.allocUnsafeSlow(length);
      let at = 0;
      for (const piece of pieces) at += bytes.write(piece, at);
      const kept: Kept<T> = { text: () => bytes.toString(), names };
      cache.set(key, kept, length + namesBytes + ENTRY_BYTES);
    },
    bytes: cache.bytes,
  };
}
