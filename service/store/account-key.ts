/** An account in the form of columns of kind `address`. */
export type StoredAccount = {
  readonly workchain: number;
  /** 32 bytes. */
  readonly id: Uint8Array;
};

/** Added to the workchain, so that -1 sorts before 0. */
const WORKCHAIN_BIAS = 128;

/** Workchain plus 128, then the id: 33 bytes. Workchains beyond 8 bits have no accounts: their key is in no row. */
export function accountKey({ workchain, id }: StoredAccount): Buffer {
  const biased = workchain + WORKCHAIN_BIAS;
  if (biased < 0 || biased > 255) return Buffer.alloc(0);
  const key = Buffer.allocUnsafeSlow(33);
  key[0] = biased;
  key.set(id, 1);
  return key;
}

/** The account of a stored key. */
export function accountOfKey(key: Uint8Array): { readonly workchain: number; readonly id: Buffer } {
  return { workchain: (key[0] ?? 0) - WORKCHAIN_BIAS, id: Buffer.from(key.subarray(1)) };
}
