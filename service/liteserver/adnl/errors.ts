import { TonplaneError } from '#service/error.ts';

/**
 * Codes of AdnlError.
 * - `handshake`: the 256 bytes address another key, or their parameters fail the hash.
 * - `frame_length`: a frame claims a length outside 64..2^24.
 * - `frame_hash`: a frame's hash is wrong; the stream is lost.
 * - `payload`: a frame's payload may not come from this side.
 */
export type AdnlErrorCode = 'handshake' | 'frame_length' | 'frame_hash' | 'payload';

/** Error when the peer broke the ADNL protocol. The connection must be closed. */
export class AdnlError extends TonplaneError<AdnlErrorCode, undefined> {
  constructor(code: AdnlErrorCode, message: string, cause?: unknown) {
    super({ code, message, data: undefined, retryable: true, cause });
  }
}
