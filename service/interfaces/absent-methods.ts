import { createBoundedCache } from '../live/bounded-cache.ts';

/** Methods that code of an unknown shape turned out not to have. */
export type AbsentMethods = {
  /** @param codeHash base64 */
  of(codeHash: string): ReadonlySet<number>;
  learn(codeHash: string, methodIds: readonly number[]): void;
};

/** Some thousand codes: there are a few hundred that many accounts have, most of them libraries. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** Of one code: its hash and some twenty numbers. */
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
