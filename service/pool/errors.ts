import { TonplaneError } from '../error.ts';

/**
 * Reasons why the pool as a whole could not answer.
 * - `no_lite_server`: no lite server is usable now (503).
 * - `saturated`: all possible lite servers are at their limit, and too many reads wait already (503).
 * - `deadline`: the caller's deadline passed before a good answer came (504).
 * - `aborted`: the caller went away, so no client sees this.
 * - `closed`: the pool is shutting down (503).
 * - `behind`: the caller has seen a newer block at another pod than this pod can get in time (503).
 */
export type PoolErrorCode = 'no_lite_server' | 'saturated' | 'deadline' | 'aborted' | 'closed' | 'behind';

export type PoolErrorData = {
  /** Lite servers asked for the read. */
  readonly attempts: number;
  /** Text of the last error on the way, if any. */
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

/** Error of the pool itself. An error of one lite server (`LiteServerError`) or a failed check (`ProofError`) passes through unchanged. */
export class PoolError extends TonplaneError<PoolErrorCode, PoolErrorData> {
  constructor(code: PoolErrorCode, data: PoolErrorData = { attempts: 0 }, cause?: unknown) {
    super({ code, message: messages[code], data, retryable: code !== 'aborted' && code !== 'closed', cause });
  }
}

/** Returns the PoolError for an aborted signal: `deadline` for a timeout, else `aborted`. */
export function abandonment({ reason }: { readonly reason: unknown }): PoolError {
  if (reason instanceof PoolError) return reason;
  const timedOut = reason instanceof Error && reason.name === 'TimeoutError';
  return new PoolError(timedOut ? 'deadline' : 'aborted', { attempts: 0 }, reason);
}
