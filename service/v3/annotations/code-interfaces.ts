import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { readCodeMethods } from '#service/store/queries/accounts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { interfacesOf } from '../views/account-interfaces.ts';
import { viewBytes } from '../request/scalars.ts';

/** Cache of interfaces by code. Code never changes, so each code is looked up once. */
export type CodeInterfaces = {
  /** Interfaces by `hashKey` of the code, for all given hashes. */
  of(codeHashes: readonly Uint8Array[], store: StoreReader): Promise<ReadonlyMap<string, CodeNote>>;
};

export type CodeNote = {
  /** Names. */
  readonly interfaces: readonly string[];
  /** True if the index has the code. Interfaces of missing code may become known later. */
  readonly isKnown: boolean;
};

/** Bytes of an entry: its hash and the names, which all entries share. */
const ENTRY_BYTES = 400;

export function createCodeInterfaces(options: { readonly bytesMax: number }): CodeInterfaces {
  const cache = createBoundedCache(options);
  return {
    async of(codeHashes, store) {
      const hashes = new Map(codeHashes.map((hash) => [hashKey(hash), hash]));
      const found = new Map<string, CodeNote>();
      const unknown = new Map<string, Uint8Array>();
      for (const [key, hash] of hashes) {
        const note = cache.get(key) as CodeNote | undefined;
        if (note === undefined) unknown.set(key, hash);
        else found.set(key, note);
      }
      const rows = unknown.size === 0 ? [] : await readCodeMethods(store, [...unknown.values()]);
      const methods = new Map(rows.map((row) => [hashKey(row.code_hash), row.methods]));
      for (const [key, hash] of unknown) {
        const interfaces = interfacesOf({ codeHash: viewBytes(hash), methods: methods.get(key) ?? null });
        const note = { interfaces, isKnown: methods.has(key) };
        found.set(key, note);
        if (note.isKnown) cache.set(key, note, ENTRY_BYTES);
      }
      return found;
    },
  };
}
