import { TonplaneError } from '../error.ts';

/**
 * - `from_too_old`: the masterchain block that a proof shall start from does not have the wanted block in its history
 * - `too_many_libraries`: more libraries are asked for than lite servers look up in one question
 */
export type LiveErrorCode = 'from_too_old' | 'too_many_libraries';

/** A read that no lite server can answer as it was asked. Its message is that of tonlib (v2 sheet 9). */
export class LiveError extends TonplaneError<LiveErrorCode, { readonly limit: number; readonly found: number }> {
  constructor(code: LiveErrorCode, message: string, data: { readonly limit: number; readonly found: number }) {
    super({ code, message, data, retryable: false });
  }
}
