import { TonplaneError } from '../error.ts';

/**
 * Why the pool as a whole could not answer.
 * - `no_lite_server`: none is usable at this moment (503).
 * - `deadline`: the caller's deadline passed before a good answer came (504).
 * - `aborted`: the caller went away; nobody sees this.
 * - `closed`: the pool is shutting down (503).
 */
export type PoolErrorCode = 'no_lite_server' | 'deadline' | 'aborted' | 'closed';

export type PoolErrorData = {
  /** Lite servers asked for this read. */
  readonly attempts: number;
  /** Text of the last error seen on the way, if any. */
  readonly lastError?: string;
};

const messages: Record<PoolErrorCode, string> = {
  no_lite_server: 'no lite server is usable',
  deadline: 'no lite server answered in time',
  aborted: 'the caller stopped waiting',
  closed: 'the pool is closed',
};

/** Error of the pool itself; an error of one lite server (`LiteServerError`) or a failed check (`ProofError`) passes through as it is. */
export class PoolError extends TonplaneError<PoolErrorCode, PoolErrorData> {
  constructor(code: PoolErrorCode, data: PoolErrorData = { attempts: 0 }, cause?: unknown) {
    super({ code, message: messages[code], data, retryable: code !== 'aborted' && code !== 'closed', cause });
  }
}

/** What an aborted signal means to the one who waits: its own PoolError, `deadline` for a timeout, else `aborted`. */
export function abandonment({ reason }: { readonly reason: unknown }): PoolError {
  if (reason instanceof PoolError) return reason;
  const timedOut = reason instanceof Error && reason.name === 'TimeoutError';
  return new PoolError(timedOut ? 'deadline' : 'aborted', { attempts: 0 }, reason);
}
