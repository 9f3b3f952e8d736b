import { TonplaneError } from '../error.ts';

/**
 * Why the pool as a whole could not answer.
 * - `no_lite_server`: none is usable at this moment (503).
 * - `saturated`: all that could be asked have as much to do as they bear, and too many wait already (503).
 * - `deadline`: the caller's deadline passed before a good answer came (504).
 * - `aborted`: the caller went away; nobody sees this.
 * - `closed`: the pool is shutting down (503).
 * - `behind`: the caller has seen a newer block, at another pod, than can be had here in time (503).
 */
export type PoolErrorCode = 'no_lite_server' | 'saturated' | 'deadline' | 'aborted' | 'closed' | 'behind';

export type PoolErrorData = {
  /** Lite servers asked for this read. */
  readonly attempts: number;
  /** Text of the last error seen on the way, if any. */
  readonly lastError?: string;
  /** Whole seconds after which there may be room again. */
  readonly retryAfterSeconds?: number;
};

const messages: Record<PoolErrorCode, string> = {
  no_lite_server: 'no lite server is usable',
  saturated: 'the lite servers have as much to do as they bear',
  deadline: 'no lite server answered in time',
  aborted: 'the caller stopped waiting',
  closed: 'the pool is closed',
  behind: 'no lite server has the block that the caller has seen',
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
