import { TonplaneError } from '../error.ts';

/**
 * - `invalid_parameter`: a parameter, or the request around it, is not what the operation takes
 * - `result_too_deep`: a get-method's result is nested deeper than an answer may be
 * - `result_too_big`: a get-method's result takes more bytes than an answer may have
 * - `result_pruned`: a get-method's result has a cell that no bag of cells can carry
 * - `answer_too_large`: the answer would have more bytes than an answer may have
 */
export type ContractErrorCode =
  | 'invalid_parameter'
  | 'result_too_deep'
  | 'result_too_big'
  | 'result_pruned'
  | 'answer_too_large';

/** The caller's mistake, or an answer that cannot be given. Its message, in the words of the contract, is shown to the caller as it stands; never retried upstream. */
export class ContractError extends TonplaneError<ContractErrorCode, { readonly parameter?: string }> {
  constructor(code: ContractErrorCode, message: string, parameter?: string) {
    super({ code, message, data: parameter === undefined ? {} : { parameter }, retryable: false });
  }
}

/** An invalid request, with the message of its contract (service/v2/README.md#validation-messages, service/v3/README.md#errors). */
export function invalid(message: string, parameter?: string): ContractError {
  return new ContractError('invalid_parameter', message, parameter);
}
