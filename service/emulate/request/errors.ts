import { TonplaneError } from '#service/error.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import type { Rejection } from '#service/simulation/simulate-message.ts';

/**
 * Errors of the emulation (service/emulate/README.md#errors).
 * - `seqno_too_new`: the masterchain block is newer than the served head
 * - `not_accepted`: the contract refuses the message
 * - `not_runnable`: the virtual machine cannot read the message or an account as the request gives it
 * - `emulation_timeout`: the thread time of the request, or the time of one run, ended
 * - `emulation_busy`: other emulations leave too little time for this one
 */
export type EmulateErrorCode =
  | 'seqno_too_new'
  | 'not_accepted'
  | 'not_runnable'
  | 'emulation_timeout'
  | 'emulation_busy';

/** Codes that are worth another try by the same caller. */
const retryable: ReadonlySet<EmulateErrorCode> = new Set(['seqno_too_new', 'emulation_busy']);

/** Fields of the answer besides its text. */
export type EmulateErrorData = {
  /** Null when the contract did not run. */
  readonly exit_code?: number | null;
  readonly vm_log?: string;
};

/** The caller receives its message and its data unchanged. */
export class EmulateError extends TonplaneError<EmulateErrorCode, EmulateErrorData> {
  constructor(code: EmulateErrorCode, message: string, data: EmulateErrorData = {}) {
    super({ code, message, data, retryable: retryable.has(code) });
  }
}

/** Schemas of the data, for the document. */
export const notAcceptedFields: Readonly<Record<keyof EmulateErrorData, JsonSchema>> = {
  exit_code: { type: ['integer', 'null'] },
  vm_log: { type: 'string' },
};

/** Characters of the log in an answer: its end has the cause, some 20 instructions. */
const LOG_CHARACTERS_MAX = 2048;

/** The refusal of a contract, with the end of the log of the VM. */
export function notAccepted({ error, exitCode, log = '' }: Rejection): EmulateError {
  const reason = exitCode === undefined ? error : `exit code ${exitCode}`;
  return new EmulateError('not_accepted', `external message was not accepted: ${reason}`, {
    exit_code: exitCode ?? null,
    vm_log: log.slice(-LOG_CHARACTERS_MAX),
  });
}

/** The refusal of the VM to run what the request gives. */
export function cannotRun(reason: string): EmulateError {
  return new EmulateError('not_runnable', `the message cannot be run: ${reason}`);
}

/** The error of a request that has used its thread time. */
export function usedThreadTime(threadMs: number): EmulateError {
  return new EmulateError('emulation_timeout', `the emulation took more than ${threadMs} ms of a thread`);
}

/** The error of a request with a run that has used its time. */
export function ranTooLong(detail: string): EmulateError {
  return new EmulateError('emulation_timeout', `the emulation is ended: ${detail}`);
}

/** The error of a request that would begin, or go on, too late. */
export function busy(): EmulateError {
  return new EmulateError('emulation_busy', 'too many emulations wait, try again later');
}
