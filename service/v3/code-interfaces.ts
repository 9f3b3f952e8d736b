import { createBoundedCache } from '../live/bounded-cache.ts';
import { hashKey } from '../store/hash-key.ts';
import { readCodeMethods } from '../store/queries/accounts.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { interfacesOf } from './account-interfaces.ts';
import { viewBytes } from './scalars.ts';

/** What codes are known to be. What a code has never changes: it is looked up once. */
export type CodeInterfaces = {
  /** By `hashKey` of the code, for all that are given. */
  of(codeHashes: readonly Uint8Array[], store: StoreReader): Promise<ReadonlyMap<string, CodeNote>>;
};

export type CodeNote = {
  /** Names. */
  readonly interfaces: readonly string[];
  /** Whether the index has it: of one that it does not have yet more may be told later. */
  readonly isKnown: boolean;
};

/** Some ten thousand codes: most accounts share a few hundred. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** Of one code: its hash and the names, which all codes share. */
const ENTRY_BYTES = 400;

export function createCodeInterfaces(): CodeInterfaces {
  const kept = createBoundedCache({ bytesMax: KEPT_BYTES_MAX });
  return {
    async of(codeHashes, store) {
      const hashes = new Map(codeHashes.map((hash) => [hashKey(hash), hash]));
      const found = new Map<string, CodeNote>();
      const unknown = new Map<string, Uint8Array>();
      for (const [key, hash] of hashes) {
        const note = kept.get(key) as CodeNote | undefined;
        if (note === undefined) unknown.set(key, hash);
        else found.set(key, note);
      }
      const rows = unknown.size === 0 ? [] : await readCodeMethods(store, [...unknown.values()]);
      const methods = new Map(rows.map((row) => [hashKey(row.code_hash), row.methods]));
      for (const [key, hash] of unknown) {
        const interfaces = interfacesOf({ codeHash: viewBytes(hash), methods: methods.get(key) ?? null });
        const note = { interfaces, isKnown: methods.has(key) };
        found.set(key, note);
        if (note.isKnown) kept.set(key, note, ENTRY_BYTES);
      }
      return found;
    },
  };
}
