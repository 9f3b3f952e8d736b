import { TonplaneError } from '../error.ts';

/**
 * - `invalid_parameter`: a parameter, or the request around it, is not what the operation takes
 * - `result_too_deep`: a get-method's result is nested deeper than an answer may be
 * - `result_too_big`: a get-method's result takes more bytes than an answer may have
 * - `result_pruned`: a get-method's result has a cell that no bag of cells can carry
 */
export type ContractErrorCode = 'invalid_parameter' | 'result_too_deep' | 'result_too_big' | 'result_pruned';

/** The caller's mistake, or an answer that cannot be given. Its message, in the words of the contract, is shown to the caller as it stands; never retried upstream. */
export class ContractError extends TonplaneError<ContractErrorCode, { readonly parameter?: string }> {
  constructor(code: ContractErrorCode, message: string, parameter?: string) {
    super({ code, message, data: parameter === undefined ? {} : { parameter }, retryable: false });
  }
}

/** A request that is not valid, told in the words of its contract (v2 sheet 4.2, v3 sheet section 3). */
export function invalid(message: string, parameter?: string): ContractError {
  return new ContractError('invalid_parameter', message, parameter);
}
