import { TonplaneError } from '#service/error.ts';

/**
 * Errors of v3 (service/v3/README.md#errors).
 * - `not_indexed`: the index lacks the block or its contents; the message is the contract's text
 * - `nothing_named`: the request names no subject
 * - `not_a_wallet`: the account is no wallet of a known version
 * - `answer_too_large`: the request exceeds the limit of an answer
 * - `index_empty`: no masterchain block is indexed yet
 */
export type V3ErrorCode = 'not_indexed' | 'nothing_named' | 'not_a_wallet' | 'answer_too_large' | 'index_empty';

/** The caller receives its message unchanged. */
export class V3Error extends TonplaneError<V3ErrorCode> {
  constructor(code: V3ErrorCode, message: string) {
    super({ code, message, data: {}, retryable: code === 'index_empty' });
  }
}

/** 404 with the contract's text. */
export function notIndexed(message: string): V3Error {
  return new V3Error('not_indexed', message);
}
