import { createJsonCache, type CachedJson } from '#service/runtime/json-cache.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { batchesOf, packJson, unpackJson, type Rendered } from './packed-json.ts';

/** Rendered parts of answers in packed form, a fourth of their text. @template T further data of a part */
export type PackedCache<T> = {
  /** Cached parts of some keys, by key. Unpacking a part takes a tenth of rendering it. */
  find(
    keys: readonly string[],
    reader: Pick<StoreReader, 'signal' | 'takeBytes'>,
  ): Promise<ReadonlyMap<string, CachedJson<T>>>;
  /**
   * Caches a part that was given here often before. Packing takes as long as rendering a small part, and most parts are shown once.
   *
   * @param before times, 1 to 15
   */
  keep(key: string, rendered: Rendered<T>, before: number): void;
  /** Bytes in use. */
  readonly bytes: () => number;
};

/** Notes of parts, 4 bytes each. A newer part takes the place of an older part, after some 100,000 of them. */
const NOTES = 1 << 17;

/** Most times in a note: its low 4 bits. The other bits are of the key. */
const TIMES_MAX = 15;

/** @param options.bytesMax of packed parts */
export function createPackedCache<T>(options: { readonly bytesMax: number }): PackedCache<T> {
  const frames = createJsonCache<null>(options);
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
    async find(keys, { signal, takeBytes }) {
      const found = keys.flatMap((key) => {
        const frame = frames.get(key)?.text;
        return frame === undefined ? [] : [{ key, frame }];
      });
      const batches = batchesOf(found, ({ frame }) => frame, takeBytes);
      const unpacked = await mapInSlices(batches, unpackTogether<T>, createTimeSlice(signal));
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

function unpackTogether<T>(
  batch: readonly { readonly key: string; readonly frame: Buffer }[],
): readonly (readonly [key: string, part: CachedJson<T>])[] {
  const unpacked = unpackJson<T>(batch.map(({ frame }) => frame)) ?? [];
  return unpacked.map((part, at) => [batch[at]!.key, part]);
}
