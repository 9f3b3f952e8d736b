import { TonplaneError } from '#service/error.ts';

/**
 * - `tl_truncated`: the bytes end inside a value.
 * - `tl_trailing`: bytes are left after the object.
 * - `tl_unknown_id`: the constructor id is not one that may stand here.
 * - `tl_count`: a vector claims more elements than its bytes can hold, or than `vectorCountMax`.
 * - `tl_value`: a value does not fit its TL type, or contradicts the `mode` bits that govern it.
 */
export type TlErrorCode = 'tl_truncated' | 'tl_trailing' | 'tl_unknown_id' | 'tl_count' | 'tl_value';

/** What was read or written (`liteServer.accountState.shardProof`, a primitive's name) and at which byte. */
export type TlErrorData = { readonly what: string; readonly offset: number };

/** Bytes that are not the TL object they should be, or a value that TL cannot carry. */
export class TlError extends TonplaneError<TlErrorCode, TlErrorData> {
  constructor(code: TlErrorCode, message: string, data: TlErrorData) {
    super({ code, message, data, retryable: false });
  }
}
