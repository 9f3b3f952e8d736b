import { TonplaneError } from '#service/error.ts';

/**
 * Reason of a failed request to the API server.
 * - `unreachable`, `timeout`, `aborted`: no answer. The first two may have taken effect.
 * - `unauthorized`, `forbidden`: credentials or permissions.
 * - `not_found`, `conflict`, `gone`, `refused` (400, 422: the object itself is wrong), `throttled`, `server`: by the status.
 * - `malformed`: an answer that breaks the API's contract.
 * - `not_leader`: the client stopped a write because this process may no longer write.
 */
type ApiErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'aborted'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'refused'
  | 'throttled'
  | 'server'
  | 'malformed'
  | 'not_leader';

type ApiErrorData = {
  /** `PATCH apps/v1 Deployment ns/name`. */
  readonly request: string;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** `Status.reason` of the answer, such as `AlreadyExists`; empty without one. */
  readonly reason: string;
  /** Pause before the next try that the server asks for. */
  readonly retryAfterMs: number | undefined;
  /** Fields at fault or, on a conflict, fields of others. */
  readonly causes: readonly { readonly field: string; readonly message: string }[];
};

/** An error of the API server, or of the way to it. */
export class ApiError extends TonplaneError<ApiErrorCode, ApiErrorData> {}

/** True for an ApiError with one of the codes. */
export function isApiError(error: unknown, ...codes: readonly ApiErrorCode[]): error is ApiError {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
}

/** The error of a request that brought no answer; `reason` is what an aborted signal holds. */
export function noAnswer(request: string, cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  const name = cause instanceof Error ? cause.name : '';
  const timedOut = name === 'TimeoutError' || name === 'HeadersTimeoutError' || name === 'BodyTimeoutError';
  const code = timedOut ? 'timeout' : name === 'AbortError' ? 'aborted' : 'unreachable';
  const message = `${request}: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new ApiError({ code, message, data: { ...emptyData, request }, retryable: true, cause });
}

/** The error that an answer other than 2xx stands for. `body` is the parsed answer, a `Status` as a rule. */
export function fromStatus(request: string, status: number, body: unknown, retryAfter: string | undefined): ApiError {
  const { message, reason, details } = readStatus(body);
  const code = codeOf(status);
  const retryAfterMs = retryAfterOf(retryAfter, details.retryAfterSeconds);
  return new ApiError({
    code,
    message: `${request}: ${status} ${message}`,
    data: { request, status, reason, retryAfterMs, causes: details.causes },
    retryable: code !== 'refused' && code !== 'forbidden',
  });
}

export function malformed(request: string, what: string, cause?: unknown): ApiError {
  const message = `${request}: ${what}`;
  return new ApiError({ code: 'malformed', message, data: { ...emptyData, request }, retryable: true, cause });
}

/** Error of a write that was stopped because this process is not the leader. */
export function notLeader(request: string): ApiError {
  const message = `${request}: not sent, because this process may not write any more`;
  return new ApiError({ code: 'not_leader', message, data: { ...emptyData, request }, retryable: true });
}

const emptyData = { status: 0, reason: '', retryAfterMs: undefined, causes: [] } as const;

/** Longest pause that a server may request. Every waiting key is reconciled eventually. */
const RETRY_AFTER_MAX_MS = 300_000;

function codeOf(status: number): ApiErrorCode {
  const codes: Readonly<Record<number, ApiErrorCode>> = {
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    409: 'conflict',
    410: 'gone',
    429: 'throttled',
  };
  return codes[status] ?? (status >= 500 ? 'server' : status >= 400 ? 'refused' : 'malformed');
}

type StatusBody = {
  readonly message: string;
  readonly reason: string;
  readonly details: { readonly retryAfterSeconds: number | undefined; readonly causes: ApiErrorData['causes'] };
};

/** Reads a `Status` object (meta/v1) and validates every field: a proxy may answer in its place. */
function readStatus(body: unknown): StatusBody {
  const fields = fieldsOf(body);
  const details = fieldsOf(fields['details']);
  const causes = Array.isArray(details['causes']) ? details['causes'].map(fieldsOf) : [];
  const seconds = details['retryAfterSeconds'];
  return {
    message: textOf(fields['message']),
    reason: textOf(fields['reason']),
    details: {
      retryAfterSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : undefined,
      causes: causes.map((cause) => ({ field: textOf(cause['field']), message: textOf(cause['message']) })),
    },
  };
}

function retryAfterOf(header: string | undefined, seconds: number | undefined): number | undefined {
  const value = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : seconds;
  return value === undefined ? undefined : Math.min(value * 1000, RETRY_AFTER_MAX_MS);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
