import { TonplaneError } from '../error.ts';

/** - `uninterpretable`: blocks cannot be interpreted or their results cannot be written, in repeated tries, while other blocks can */
export type InterpreterErrorCode = 'uninterpretable';

/** Masterchain blocks that fail by themselves. */
export class InterpreterError extends TonplaneError<InterpreterErrorCode, { readonly seqnos: readonly number[] }> {
  constructor(seqnos: readonly number[], cause: unknown) {
    const [newest] = seqnos;
    const message = `blocks from ${newest} down cannot be interpreted`;
    super({ code: 'uninterpretable', message, data: { seqnos }, retryable: false, cause });
  }
}
