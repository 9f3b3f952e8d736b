import { createBoundedCache } from '../runtime/bounded-cache.ts';

/** Cache of methods that code of an unknown shape does not have. */
export type AbsentMethods = {
  /** @param codeHash base64 */
  of(codeHash: string): ReadonlySet<number>;
  learn(codeHash: string, methodIds: readonly number[]): void;
};

/** Most bytes of the cache: some thousand codes. A few hundred codes are common, most of them libraries. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes of an entry: a hash and some twenty numbers. */
const ENTRY_BYTES = 1024;

const NONE: ReadonlySet<number> = new Set();

export function createAbsentMethods(): AbsentMethods {
  const known = createBoundedCache({ bytesMax: KEPT_BYTES_MAX });
  const of = (codeHash: string): ReadonlySet<number> =>
    (known.get(codeHash) as ReadonlySet<number> | undefined) ?? NONE;
  return {
    of,
    learn(codeHash, methodIds) {
      if (methodIds.length > 0) known.set(codeHash, new Set([...of(codeHash), ...methodIds]), ENTRY_BYTES);
    },
  };
}
