import { TonplaneError } from '../error.ts';

/**
 * Why an answer of v3 cannot be given (service/v3/README.md#errors).
 * - `not_indexed`: the block or what belongs to it is not in the index; the message is the contract's text
 * - `nothing_named`: it is not said what is asked about
 * - `not_a_wallet`: the account is no wallet of a known version
 * - `answer_too_large`: what is asked for is more than one answer may hold
 * - `index_empty`: no masterchain block is indexed yet
 */
export type V3ErrorCode = 'not_indexed' | 'nothing_named' | 'not_a_wallet' | 'answer_too_large' | 'index_empty';

/** Its message is shown to the caller as it stands. */
export class V3Error extends TonplaneError<V3ErrorCode> {
  constructor(code: V3ErrorCode, message: string) {
    super({ code, message, data: {}, retryable: code === 'index_empty' });
  }
}

/** 404 with the contract's text. */
export function notIndexed(message: string): V3Error {
  return new V3Error('not_indexed', message);
}
