import { TonplaneError } from '../error.ts';

/**
 * Codes of TvmError: reasons for a call without a result. A contract that throws is no error: its exit code is the result.
 * - `tvm_bad_request`: the emulator refuses the inputs (a BoC that does not decode, an unusable config).
 * - `tvm_queue_full`: more calls wait than the bound.
 * - `tvm_timeout`: the call ran longer than the wall limit; its thread was ended.
 * - `tvm_crashed`: the emulator died under the call, or could not be started.
 * - `tvm_aborted`: the caller went away.
 * - `tvm_closed`: the service is shutting down.
 * - `tvm_library_unavailable`: a library could not be fetched, does not match its hash, or too many are needed.
 * - `stack_too_deep`: the stack, or a list or tuple in it, is deeper than a BoC can be (1,024 cells). The emulator refuses a result of more
 *   than 3,499 entries in the same way.
 * - `stack_too_big`: the stack has more entries than the bound.
 * - `stack_invalid`: bytes that are no VmStack, or an entry that is no value of the VM.
 * - `fees_unsupported`: fees are not estimated for this kind of the contract's actions.
 */
export type TvmErrorCode =
  | 'tvm_bad_request'
  | 'tvm_queue_full'
  | 'tvm_timeout'
  | 'tvm_crashed'
  | 'tvm_aborted'
  | 'tvm_closed'
  | 'tvm_library_unavailable'
  | 'stack_too_deep'
  | 'stack_too_big'
  | 'stack_invalid'
  | 'fees_unsupported';

export type TvmErrorData = {
  /** Description of the failure, without secrets. */
  readonly detail: string;
  /** Exceeded bound, in the unit of the code: calls, milliseconds, libraries, cells, entries, actions. */
  readonly limit?: number;
};

/** Codes that are worth another try by the same caller. The next attempt meets another queue, thread or lite server. */
const retryable: ReadonlySet<TvmErrorCode> = new Set(['tvm_queue_full', 'tvm_crashed', 'tvm_library_unavailable']);

export class TvmError extends TonplaneError<TvmErrorCode, TvmErrorData> {
  constructor(code: TvmErrorCode, data: TvmErrorData, cause?: unknown) {
    super({ code, message: `${code}: ${data.detail}`, data, retryable: retryable.has(code), cause });
  }
}

export function badRequest(detail: string, cause?: unknown): TvmError {
  return new TvmError('tvm_bad_request', { detail }, cause);
}
