import { TonplaneError } from '../error.ts';

/**
 * - `unsupported_entry`: an argument of a get-method has an unknown type
 * - `bad_cell_object`: an object of a legacy operation describes no cell
 * - `unknown_method`: JSON-RPC names no operation
 */
export type V2ErrorCode = 'unsupported_entry' | 'bad_cell_object' | 'unknown_method';

/** The caller's mistake, or an answer that cannot be given. Its message is shown to the caller as it stands; never retried upstream. */
export class V2Error extends TonplaneError<V2ErrorCode, { readonly parameter?: string }> {
  constructor(code: V2ErrorCode, message: string, parameter?: string) {
    super({ code, message, data: parameter === undefined ? {} : { parameter }, retryable: false });
  }
}
