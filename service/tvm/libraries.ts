import { parseBoc } from '../decode/boc.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import { TvmError } from './errors.ts';
import type { TvmMetrics } from './metrics.ts';

/** Fetches the library with this 32-byte hash: the BoC of its cell, undefined when the masterchain has none. */
export type FetchLibrary = (hash: Buffer) => Promise<Buffer | undefined>;

/**
 * Cache of libraries by hash. Content never changes, but a library exists only from the block that published it until a block that removes it.
 * Each masterchain block is asked once.
 */
export type Libraries = {
  /** Returns the cached libraries among these hashes (hex) that exist at this masterchain block. */
  known(hashes: readonly string[], seqno: number): Map<string, Buffer>;
  /** Throws TvmError `tvm_library_unavailable` when the answer does not match the hash. Other errors come from `fetch`. */
  find(hash: string, seqno: number, fetch: FetchLibrary): Promise<Buffer | undefined>;
};

/** Most libraries of one call; contracts use one or two. */
export const LIBRARIES_MAX = 16;

/** `firstSeqno` to `lastSeqno`: masterchain blocks each of which has the library. */
type CachedLibrary = { readonly bytes: Buffer; firstSeqno: number; lastSeqno: number };

/** @param bytesMax of all cached libraries; the library unused longest is evicted first */
export function createLibraries(bytesMax: number, metrics: TvmMetrics): Libraries {
  const byHash = new Map<string, CachedLibrary>();
  let bytes = 0;

  function touch(hash: string, seqno: number): Buffer | undefined {
    const library = byHash.get(hash);
    if (library === undefined || seqno < library.firstSeqno || seqno > library.lastSeqno) return undefined;
    byHash.delete(hash);
    byHash.set(hash, library);
    metrics.libraries.inc({ result: 'cached' });
    return library.bytes;
  }

  function keep(hash: string, library: Buffer, seqno: number): void {
    const known = byHash.get(hash);
    if (known !== undefined) {
      const isNext = seqno === known.lastSeqno + 1;
      known.firstSeqno = isNext ? known.firstSeqno : seqno;
      known.lastSeqno = seqno;
      return;
    }
    if (library.length > bytesMax) return;
    byHash.set(hash, { bytes: library, firstSeqno: seqno, lastSeqno: seqno });
    bytes += library.length;
    for (const [oldest, { bytes: dropped }] of byHash) {
      if (bytes <= bytesMax) break;
      byHash.delete(oldest);
      bytes -= dropped.length;
    }
  }

  return {
    known(hashes, seqno) {
      const found = new Map<string, Buffer>();
      for (const hash of hashes) {
        const library = touch(hash, seqno);
        if (library !== undefined) found.set(hash, library);
      }
      return found;
    },
    async find(hash, seqno, fetch) {
      const known = touch(hash, seqno);
      if (known !== undefined) return known;
      const library = await fetch(Buffer.from(hash, 'hex')).catch((error: unknown) => {
        metrics.libraries.inc({ result: 'failed' });
        throw error;
      });
      const result = library === undefined ? 'missing' : rootHash(library) === hash ? 'found' : 'bad';
      metrics.libraries.inc({ result });
      if (result === 'bad')
        throw new TvmError('tvm_library_unavailable', { detail: `library ${hash} has another hash` });
      if (library !== undefined) keep(hash, library, seqno);
      return library;
    },
  };
}

function rootHash(library: Buffer): string | undefined {
  try {
    const boc = parseBoc(library, { rootsMax: 1 });
    return boc.hash(boc.roots[0]!).toString('hex');
  } catch {
    return undefined;
  }
}

/** Returns the hashes (hex) that the library cells of a table refer to, the first `max`: `library#02 hash:bits256`. */
export function listLibraryHashes(boc: CellTable, max = LIBRARIES_MAX): string[] {
  const hashes: string[] = [];
  for (let cell = 0; cell < boc.size && hashes.length < max; cell++) {
    if (boc.kind(cell) !== 'library') continue;
    const start = boc.dataOffset(cell) + 1;
    hashes.push(boc.bytes.toString('hex', start, start + 32));
  }
  return hashes;
}

/** Writes the dictionary `Hashmap 256 ^Cell` of libraries for the VM, as a bag of cells. It needs at least one library. */
export function writeLibraries(libraries: ReadonlyMap<string, Buffer>): Buffer {
  const store = createCellStore();
  const entries = [...libraries].map(([hash, bytes]) => {
    const boc = parseBoc(bytes);
    return { key: Buffer.from(hash, 'hex'), cell: store.import(boc, boc.roots[0]!) };
  });
  entries.sort((one, other) => Buffer.compare(one.key, other.key));
  return writeBoc(store, [writeEdge(store, entries, 0)], { crc32c: true });
}

type Entry = { readonly key: Buffer; readonly cell: number };

const KEY_BITS = 256;

/** `hm_edge#_ label:(HmLabel ~l n) node:(HashmapNode m X)`. The label is always `hml_long$10 n:(#<= m) s:(n * Bit)`. */
function writeEdge(store: CellStore, entries: readonly Entry[], start: number): number {
  const [first, last] = [entries[0]!, entries.at(-1)!];
  let end = start;
  while (end < KEY_BITS && bitAt(first.key, end) === bitAt(last.key, end)) end++;
  const writer = new BitWriter();
  writer.int(2, 2).int(end - start, 32 - Math.clz32(KEY_BITS - start));
  writer.copy(first.key, start, end - start);
  if (end === KEY_BITS) return writer.ref(first.cell).finish(store);
  const fork = entries.findIndex(({ key }) => bitAt(key, end));
  for (const side of [entries.slice(0, fork), entries.slice(fork)]) writer.ref(writeEdge(store, side, end + 1));
  return writer.finish(store);
}

function bitAt(key: Buffer, at: number): boolean {
  return (key[at >> 3]! & (128 >> (at & 7))) !== 0;
}
