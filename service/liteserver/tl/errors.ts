import { TonplaneError } from '#service/error.ts';

/**
 * Codes of TlError.
 * - `tl_truncated`: the bytes end inside a value.
 * - `tl_trailing`: bytes are left after the object.
 * - `tl_unknown_id`: the constructor id is not allowed here.
 * - `tl_count`: a vector claims more elements than its bytes can have, or than `vectorCountMax`.
 * - `tl_value`: a value does not fit its TL type, or contradicts the `mode` bits that govern it.
 */
export type TlErrorCode = 'tl_truncated' | 'tl_trailing' | 'tl_unknown_id' | 'tl_count' | 'tl_value';

/** Value that was read or written (`liteServer.accountState.shardProof`, a primitive's name) and its byte. */
export type TlErrorData = { readonly what: string; readonly offset: number };

/** Error for bytes that are not the expected TL object, or a value that TL cannot represent. */
export class TlError extends TonplaneError<TlErrorCode, TlErrorData> {
  constructor(code: TlErrorCode, message: string, data: TlErrorData) {
    super({ code, message, data, retryable: false });
  }
}
