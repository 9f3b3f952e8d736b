import { createJsonCache, type CachedJson } from '#service/runtime/json-cache.ts';
import { mapInSlices, type TimeSlice } from '#service/runtime/time-slice.ts';
import type { RenderedTransaction } from '../views/trace-tree.ts';
import { batchesOf, packJson, unpackJson, type Rendered } from './packed-json.ts';

/** Cached data of a rendered transaction besides its text. */
export type CachedNames = Omit<RenderedTransaction, 'json'> & { readonly accounts: readonly string[] };

/** Rendered transactions in packed form, a fourth of their text. */
export type TransactionCache = {
  /** Cached transactions of some keys, by key. Unpacking a transaction takes a tenth of rendering it. */
  find(keys: readonly string[], timeSlice: TimeSlice): Promise<ReadonlyMap<string, CachedJson<CachedNames>>>;
  /**
   * Caches a transaction that was given here often before. Packing takes half of rendering, and most transactions are shown once.
   *
   * @param before times, 1 to 15
   */
  keep(key: string, rendered: Rendered<CachedNames>, before: number): void;
  /** Bytes in use. */
  readonly bytes: () => number;
};

/** Notes of transactions, 4 bytes each. A newer transaction takes the place of an older one, after some 100,000 of them. */
const NOTES = 1 << 17;

/** Most times in a note: its low 4 bits. The other bits are of the key. */
const TIMES_MAX = 15;

/** @param options.bytesMax of packed transactions */
export function createTransactionCache(options: { readonly bytesMax: number }): TransactionCache {
  const frames = createJsonCache<null>(options, { counted: () => {} });
  const notes = new Uint32Array(NOTES);

  /** Notes a key. @returns the times that it was noted before, up to 15 */
  function note(key: string): number {
    const hash = Buffer.from(key, 'latin1');
    const place = hash.readUInt32LE(0) % NOTES;
    const name = (hash.readUInt32LE(4) & ~TIMES_MAX) >>> 0;
    const there = notes[place]!;
    const times = there - name >= 0 && there - name <= TIMES_MAX ? there - name : 0;
    notes[place] = name + Math.min(times + 1, TIMES_MAX);
    return times;
  }

  return {
    async find(keys, timeSlice) {
      const found = keys.flatMap((key) => {
        const frame = frames.get(key)?.text;
        return frame === undefined ? [] : [{ key, frame }];
      });
      const batches = batchesOf(found, ({ frame }) => frame);
      const unpacked = await mapInSlices(batches, unpackTogether, timeSlice);
      return new Map(unpacked.flat());
    },
    keep(key, rendered, before) {
      if (note(key) < before) return;
      const frame = packJson(rendered);
      if (frame !== undefined) frames.keep(key, { parts: [frame], names: null });
    },
    bytes: frames.bytes,
  };
}

function unpackTogether(
  batch: readonly { readonly key: string; readonly frame: Buffer }[],
): readonly (readonly [key: string, transaction: CachedJson<CachedNames>])[] {
  const unpacked = unpackJson<CachedNames>(batch.map(({ frame }) => frame)) ?? [];
  return unpacked.map((transaction, at) => [batch[at]!.key, transaction]);
}
