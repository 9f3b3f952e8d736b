import { TonplaneError } from '../error.ts';

/**
 * - `from_too_old`: the masterchain block that a proof shall start from does not have the wanted block in its history
 * - `too_many_libraries`: more libraries are asked for than lite servers look up in one question
 * - `bad_stack`: the arguments of a get-method are none that the VM can be given
 * - `bad_message`: what is to be sent is no message from outside, or none that a node would look at
 * - `not_a_token`: the account is no jetton and no NFT, or says so of itself and its master or collection denies it
 * - `transaction_not_found`: no transaction is known that sent or received the message
 * - `no_archive`: history of an archival lite server alone is asked for, and none is one
 * - `not_a_resolver`: an account that names are to be resolved by answers what is no answer to that
 */
export type LiveErrorCode =
  | 'from_too_old'
  | 'too_many_libraries'
  | 'bad_stack'
  | 'transaction_not_found'
  | 'bad_message'
  | 'not_a_token'
  | 'no_archive'
  | 'not_a_resolver';

/** The bound that was met, and what met it. */
export type LiveErrorData = { readonly limit?: number; readonly found?: number };

/** A read that no lite server can answer. The message is that of tonlib. */
export class LiveError extends TonplaneError<LiveErrorCode, LiveErrorData> {
  constructor(code: LiveErrorCode, message: string, data: LiveErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: false, cause });
  }
}
