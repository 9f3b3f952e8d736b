import { TonplaneError } from '../error.ts';
import type { HttpErrorData } from './errors.ts';

/** Form of an error for the caller. */
export type Failure = {
  /** HTTP status and `code` of the envelope. */
  readonly status: number;
  /** `error` of the envelope. */
  readonly text: string;
  /** For `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** For `Allow`. */
  readonly allow?: readonly string[];
  /** Error code for logs; `internal` for an error of another class. */
  readonly code: string;
  /** The table has no row for this error: a bug of the service. */
  readonly unexpected: boolean;
  /** Further fields of the envelope, where the contract has them. */
  readonly fields?: Readonly<Record<string, unknown>>;
};

type Row = readonly [
  status: number,
  text: string | ((error: TonplaneError) => string),
  fields?: (error: TonplaneError) => Readonly<Record<string, unknown>>,
];

/** Status that no caller reads; it exists for logs and metrics (nginx's number for a disconnected caller). */
export const CALLER_GONE_STATUS = 499;

const networkTimeout = 'LITE_SERVER_NETWORK timeout';
const unavailable = 'no lite server is available';
const unknownKey = 'API key does not exist';

const ownMessage = (error: TonplaneError): string => error.message;

const ownData = ({ data }: TonplaneError): Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null ? { ...data } : {};

/** Text of the reference client for a stack with more entries, or deeper, than the VM takes, with the bound. */
const stackRefusal = (error: TonplaneError): string => `TVM stack size exceeds limit: ${detailOf(error)}`;

/** The part of the message without the code. */
function detailOf({ data, message }: TonplaneError): string {
  const hasDetail = typeof data === 'object' && data !== null && 'detail' in data;
  return hasDetail ? String(data.detail) : message;
}

/** Text of the reference, with a hint how to get a key when the service has one. */
function rateText({ data }: TonplaneError): string {
  const { keyHint } = headerData(data);
  return keyHint === undefined ? 'Ratelimit exceeded' : `Ratelimit exceeded: ${keyHint}`;
}

function indexUnavailable(code: string): [string, Row] {
  return [code, [503, 'the index is not available']];
}

/** Error code -> status and text: service/v2/README.md#statuses, service/v2/README.md#texts-of-lite-servers. Codes that are not here are unexpected failures: 500. */
const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  // The caller's mistakes.
  ['invalid_parameter', [422, ownMessage]],
  ['unknown_method', [422, 'Unknown method']],
  ['bad_cell_object', [400, ownMessage]],
  ['unsupported_entry', [542, ownMessage]],
  ['bad_stack', [422, ownMessage]],
  // The reference client's library answers the next two with 500 and the same text. A mistake of the caller is never an error of the
  // service.
  ['bad_message', [422, ownMessage]],
  ['too_many_libraries', [422, ownMessage]],
  ['not_a_resolver', [422, ownMessage]],
  ['not_a_token', [409, ownMessage]],
  ['no_archive', [542, ownMessage]],
  ['transaction_not_found', [404, ownMessage]],
  ['not_indexed', [404, ownMessage]],
  ['nothing_named', [400, ownMessage]],
  ['not_a_wallet', [409, ownMessage]],
  ['answer_too_large', [422, ownMessage]],
  ['rows_too_large', [422, 'the answer is too large: ask for less']],
  ['seqno_too_new', [422, ownMessage]],
  ['not_accepted', [422, ownMessage, ownData]],
  ['not_runnable', [422, ownMessage]],
  ['emulation_timeout', [504, ownMessage]],
  ['emulation_busy', [503, ownMessage]],
  ['body_not_json', [422, (error) => `failed to parse request: ${error.message}`]],
  ['body_encoded', [415, ownMessage]],
  ['stack_too_long', [422, stackRefusal]],
  ['not_json', [415, 'expected the media type application/json']],
  ['body_too_large', [413, 'request body too large']],
  ['body_slow', [408, 'request body took too long']],
  ['body_cut', [400, 'request body ended early']],
  ['url_too_long', [414, 'request URL too long']],
  ['headers_too_large', [431, 'request headers too large']],
  ['bad_url', [400, 'malformed request URL']],
  ['bad_host', [400, 'expected one Host header']],
  ['not_found', [404, 'Not Found']],
  ['wrong_method', [405, ownMessage]],
  // Runs of contracts: the result, the inputs, the room.
  ['result_too_deep', [533, ownMessage]],
  ['result_too_big', [422, ownMessage]],
  ['result_pruned', [422, ownMessage]],
  ['stack_too_deep', [422, stackRefusal]],
  ['stack_too_big', [422, stackRefusal]],
  ['stack_invalid', [500, stackRefusal]],
  ['fees_unsupported', [500, detailOf]],
  ['tvm_bad_request', [500, detailOf]],
  ['tvm_library_unavailable', [500, detailOf]],
  ['tvm_timeout', [500, detailOf]],
  ['tvm_crashed', [500, 'the virtual machine failed']],
  ['tvm_queue_full', [503, 'too many contract runs wait']],
  ['tvm_closed', [503, 'the service is shutting down']],
  ['tvm_aborted', [CALLER_GONE_STATUS, 'caller closed the request']],
  ['from_too_old', [500, ownMessage]],
  // Keys and limits.
  ['unknown_key', [401, unknownKey]],
  ['key_required', [401, unknownKey]],
  ['network_not_allowed', [403, 'Network not allowed']],
  ['source_not_allowed', [403, 'Source address not allowed']],
  ['operation_not_allowed', [403, 'Operation not allowed']],
  ['limits_unavailable', [503, 'limits are not available']],
  ['rate_limited', [429, rateText]],
  // Streams.
  ['invalid_subscription', [400, ownMessage, ownData]],
  ['invalid_cursor', [400, ownMessage, ownData]],
  ['connection_limit', [429, ownMessage, ownData]],
  ['replay_busy', [503, ownMessage, ownData]],
  ['too_many_streams', [503, ownMessage, ownData]],
  ['streams_closing', [503, ownMessage, ownData]],
  ['streaming_old', [410, ownMessage]],
  ['upgrade_required', [426, ownMessage]],
  ['bad_upgrade', [400, ownMessage]],
  // The faucet of a private network.
  ['bad_argument', [422, ownMessage]],
  ['faucet_busy', [429, ownMessage]],
  ['faucet_paused', [503, ownMessage]],
  ['transfer_refused', [500, ownMessage]],
  ['fork_unreachable', [503, ownMessage]],
  ['condition_failed', [503, 'a failure that dev_conditions asks for']],
  // The index.
  ['index_empty', [503, ownMessage]],
  ['statement_timeout', [504, 'timeout of the query']],
  ...['store_unavailable', 'store_refused', 'write_conflict'].map(indexUnavailable),
  ...['schema_missing', 'schema_older', 'schema_newer', 'other_network'].map(indexUnavailable),
  // Time and room.
  ['request_timeout', [504, networkTimeout]],
  ['caller_gone', [CALLER_GONE_STATUS, 'caller closed the request']],
  ['too_many_in_flight', [503, 'too many requests in flight']],
  // The pool.
  ['no_lite_server', [503, unavailable]],
  ['saturated', [503, 'lite servers are busy, try again later']],
  ['closed', [503, unavailable]],
  ['behind', [503, 'this replica is behind what you have seen']],
  ['deadline', [504, networkTimeout]],
  ['aborted', [CALLER_GONE_STATUS, 'caller closed the request']],
  // Errors of one lite server that reach the caller unchanged; numbered answers are in `serverRow`.
  ['timeout', [504, networkTimeout]],
  ['unreachable', [503, unavailable]],
  ['busy', [503, unavailable]],
  ['protocol', [500, 'LITE_SERVER_NETWORK protocol error']],
  // Checks that could not be made; failed checks are in `proofRow`.
  ['proof_closed', [503, unavailable]],
  ['proof_overloaded', [503, 'too many checks in flight']],
  ['proof_aborted', [CALLER_GONE_STATUS, 'caller closed the request']],
]);

/** Codes with a status of their own. */
export const errorCodes: readonly string[] = [...rows.keys()];

/** Names of the lite server's error numbers (service/v2/README.md#texts-of-lite-servers). All other numbers are UNKNOWN. */
const serverErrorNames: ReadonlyMap<number, string> = new Map([
  [601, 'FAILURE'],
  [602, 'ERROR'],
  [603, 'WARNING'],
  [621, 'PROTOVIOLATION'],
  [651, 'NOTREADY'],
  [653, 'CANCELLED'],
]);

/** 652: a wait ended; -503: the lite server's own limit of 4.5 s. Both are reported as a network timeout. */
const serverTimeouts: ReadonlySet<number> = new Set([652, -503]);

/** Longest text of a lite server that is passed on. The longest text seen, a cut VM log, has about 1,000 characters. */
const SERVER_TEXT_MAX = 8192;

/** Maps errors to HTTP; the only place that does. Never throws. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof TonplaneError))
    return { status: 500, text: 'internal error', code: 'internal', unexpected: true };
  const { code } = error;
  const row = serverRow(error) ?? proofRow(error) ?? rows.get(code);
  const [status, text, fields] = row ?? [500, `internal error: ${code}`];
  const { retryAfterSeconds = status === 503 ? 1 : undefined, allow } = headerData(error.data);
  return {
    status,
    text: typeof text === 'string' ? text : text(error),
    code,
    unexpected: row === undefined,
    ...(fields !== undefined && { fields: fields(error) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(allow !== undefined && { allow }),
  };
}

/** An error that a lite server answered with has its number and text, whatever the class of the wrapping error. */
function serverRow(error: TonplaneError): Row | undefined {
  const data = error.data;
  if (typeof data !== 'object' || data === null || !('serverCode' in data) || !('text' in data)) return undefined;
  if (typeof data.serverCode !== 'number' || typeof data.text !== 'string') return undefined;
  if (serverTimeouts.has(data.serverCode)) return [504, networkTimeout];
  const name = serverErrorNames.get(data.serverCode) ?? 'UNKNOWN';
  return [500, `LITE_SERVER_${name}: ${data.text.slice(0, SERVER_TEXT_MAX)}`];
}

/** Names in tonlib for failed checks (service/v2/README.md#texts-of-lite-servers), by subject. */
const checkNames: readonly (readonly [subject: RegExp, name: string])[] = [
  [/account/i, 'VALIDATE_ACCOUNT_STATE'],
  [/transaction/i, 'VALIDATE_TRANSACTION'],
  [/config/i, 'VALIDATE_CONFIG'],
];

/** A failed proof names its subject. The violated rule is the rest of the text. */
function proofRow(error: TonplaneError): Row | undefined {
  const data = error.data;
  if (typeof data !== 'object' || data === null || !('subject' in data)) return undefined;
  const subject = String(data.subject);
  const name = checkNames.find(([pattern]) => pattern.test(subject))?.[1] ?? 'VALIDATE_BLOCK_PROOF';
  return [500, `${name}: ${error.code}`];
}

function headerData(data: unknown): HttpErrorData {
  return typeof data === 'object' && data !== null ? data : {};
}
