import { TonplaneError } from '../error.ts';

/**
 * - `from_too_old`: the masterchain block at the start of a proof does not have the wanted block in its history
 * - `too_many_libraries`: more libraries than lite servers look up in one query
 * - `bad_stack`: the VM cannot take the arguments of a get-method
 * - `bad_message`: the sent cell is no message from outside, or no node would check it
 * - `not_a_token`: the account is no jetton and no NFT, or its master or collection denies it
 * - `transaction_not_found`: no transaction that sent or received the message is found
 * - `no_archive`: only history of an archival lite server is requested, and no lite server is archival
 * - `not_a_resolver`: an account that should resolve names returns a wrong answer
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
