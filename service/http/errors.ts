import { TonplaneError } from '../error.ts';
import type { RefusalCode, Refused } from '../limits/limits.ts';

/**
 * Reasons why a request ends before or apart from its operation.
 * - `not_found`, `wrong_method`, `url_too_long`, `bad_url`, `bad_host`, `headers_too_large`: the request line and the headers
 * - `body_too_large`, `body_not_json`, `body_slow`, `body_cut`: the body
 * - `body_encoded`: the body is compressed
 * - `stack_too_long`: a get-method has more arguments than the VM takes
 * - `not_json`: the body's media type is not JSON, although it must be
 * - `too_many_in_flight`: the process has its maximum of requests in flight
 * - `request_timeout`: the request's time is over; `caller_gone`: the caller has disconnected
 * - `condition_failed`: a developer wants a part of the requests to fail
 * - the refusals of `limits`
 */
export type HttpErrorCode =
  | 'not_found'
  | 'wrong_method'
  | 'bad_url'
  | 'bad_host'
  | 'url_too_long'
  | 'headers_too_large'
  | 'body_too_large'
  | 'body_not_json'
  | 'not_json'
  | 'body_encoded'
  | 'stack_too_long'
  | 'body_slow'
  | 'body_cut'
  | 'too_many_in_flight'
  | 'request_timeout'
  | 'caller_gone'
  | 'condition_failed'
  | RefusalCode;

export type HttpErrorData = {
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** Methods that the path takes. */
  readonly allow?: readonly string[];
  /** Hint for a caller without a key: how to get a key. */
  readonly keyHint?: string;
};

/** A request that the service ends. The status table decides whether the caller sees the message. */
export class HttpError extends TonplaneError<HttpErrorCode, HttpErrorData> {
  constructor(code: HttpErrorCode, message: string = code, data: HttpErrorData = {}) {
    super({ code, message, data, retryable: code === 'too_many_in_flight' || code === 'rate_limited' });
  }
}

/** The error of a request that the limits refuse. */
export function refusedBy({ code, retryAfterSeconds, keyHint }: Refused): HttpError {
  return new HttpError(code, code, {
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    ...(keyHint !== undefined && { keyHint }),
  });
}
