import { TonplaneError } from '../error.ts';

/**
 * Errors of streaming (service/streaming/README.md#errors). The caller sees the message.
 * - `invalid_subscription`: a field of a subscription or of a message is not what the protocol takes
 * - `invalid_cursor`: the cursor is unreadable, or of another network
 * - `connection_limit`: the caller has all connections of its plan
 * - `replay_busy`: too many replays run, or the index cannot be read
 * - `too_many_streams`: the process has its maximum of connections
 * - `streams_closing`: the process ends
 * - `streaming_old`: the path is of an earlier version of the protocol
 * - `upgrade_required`: a WebSocket path was asked without an upgrade; `bad_upgrade`: the upgrade is malformed
 */
export type StreamingErrorCode =
  | 'invalid_subscription'
  | 'invalid_cursor'
  | 'connection_limit'
  | 'replay_busy'
  | 'too_many_streams'
  | 'streams_closing'
  | 'streaming_old'
  | 'upgrade_required'
  | 'bad_upgrade';

export type StreamingErrorData = {
  /** `id` of the message or body, which its answer repeats. */
  readonly id?: string;
};

export class StreamingError extends TonplaneError<StreamingErrorCode, StreamingErrorData> {
  constructor(code: StreamingErrorCode, message: string, data: StreamingErrorData = {}) {
    super({ code, message, data, retryable: passing.has(code) });
  }
}

/** Refusals that end by themselves. */
const passing: ReadonlySet<StreamingErrorCode> = new Set(['replay_busy', 'too_many_streams', 'streams_closing']);

/** The error of a cursor that needs the index, while the index cannot be read. */
export function indexAway(): StreamingError {
  return new StreamingError('replay_busy', 'the index cannot be read, try again');
}

/** The error of a cursor that does not continue here. */
export function invalidCursor(): StreamingError {
  return new StreamingError('invalid_cursor', 'invalid cursor');
}
