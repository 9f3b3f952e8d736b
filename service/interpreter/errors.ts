import { TonplaneError } from '../error.ts';

/** - `untellable`: what blocks mean cannot be found out or written, however often it is tried, while all else works */
export type InterpreterErrorCode = 'untellable';

/** Masterchain blocks that fail by themselves. */
export class InterpreterError extends TonplaneError<InterpreterErrorCode, { readonly seqnos: readonly number[] }> {
  constructor(seqnos: readonly number[], cause: unknown) {
    const [newest] = seqnos;
    const message = `blocks from ${newest} down cannot be interpreted`;
    super({ code: 'untellable', message, data: { seqnos }, retryable: false, cause });
  }
}
