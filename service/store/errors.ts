import { DatabaseError } from 'pg';

import { TonplaneError } from '../error.ts';
import { isClientCertificateRefused } from '../tls/client-certificate.ts';
import { untrustedCertificate } from '../tls/untrusted-certificate.ts';

/**
 * - `store_unavailable`: Postgres is unavailable, starting, or in another passing state: a lock, a full disk, no memory, no connection,
 *   read-only
 * - `store_refused`: Postgres does not let this service in: password, database, privilege
 * - `statement_timeout`: a query took longer than its limit
 * - `write_conflict`: two writers met; the same transaction may be tried again
 * - `query_failed`: Postgres refused a statement
 * - `rows_too_large`: the rows of a read have more bytes than the read may have
 * - `schema_missing`: tables or parts of them do not exist
 * - `schema_older`, `schema_newer`: the tables are of another version
 * - `other_network`: the tables hold another network, or begin at another block
 * - `lease_lost`: another head writer has taken over
 * - `range_lost`: a range of the past belongs to another worker now
 * - `claim_lost`: another worker interprets these blocks now, or they have changed since the claim
 * - `out_of_order`: a batch does not begin at the end of the index
 */
export type StoreErrorCode =
  | 'store_unavailable'
  | 'store_refused'
  | 'statement_timeout'
  | 'write_conflict'
  | 'query_failed'
  | 'rows_too_large'
  | 'schema_missing'
  | 'schema_older'
  | 'schema_newer'
  | 'other_network'
  | 'lease_lost'
  | 'range_lost'
  | 'claim_lost'
  | 'out_of_order';

/** Details of an error, without values of rows. */
export type StoreErrorData = {
  /** SQLSTATE or the system's code. */
  readonly cause?: string;
  readonly found?: string | number;
  readonly expected?: string | number;
};

const retryable: ReadonlySet<StoreErrorCode> = new Set(['store_unavailable', 'write_conflict']);

/** A failed read or write of the index in Postgres. */
export class StoreError extends TonplaneError<StoreErrorCode, StoreErrorData> {
  constructor(code: StoreErrorCode, message: string, data: StoreErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: retryable.has(code), cause });
  }
}

/** Awaits a call of `pg`; turns its failure into a StoreError. */
export async function withStoreErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw storeError(cause);
  }
}

function storeError(cause: unknown): unknown {
  if (cause instanceof TonplaneError || !(cause instanceof Error)) return cause;
  // A programming error, such as a value that cannot be encoded.
  if (cause instanceof TypeError || cause instanceof RangeError) return cause;
  const state = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const code = cause instanceof DatabaseError ? storeErrorCodeOf(state ?? '') : 'store_unavailable';
  return new StoreError(code, messageOf(cause), state === undefined ? {} : { cause: state }, cause);
}

/** Texts of Postgres for a missing client certificate, and for one of another user. The code is that of every refused login. */
const certificateRefusal = /^(?:connection requires a valid client certificate|certificate authentication failed)/;

function messageOf(cause: Error): string {
  if (isClientCertificateRefused(cause) || certificateRefusal.test(cause.message)) {
    const field = 'spec.postgres.clientCertificate (--postgres-client-certificate-file)';
    return `${field}: expected a certificate that Postgres accepts for the user, got: ${cause.message}`;
  }
  const untrusted = untrustedCertificate(cause);
  if (untrusted === undefined) return cause.message;
  const expected =
    untrusted === 'chain'
      ? 'spec.postgres.caBundle (--postgres-ca-file): expected the authority of the certificate of Postgres'
      : 'spec.postgres.secretRef: expected a host that the certificate of Postgres names, or sslmode=verify-ca';
  return `${expected}, got: ${cause.message}`;
}

/** Codes by SQLSTATE or its class, the first two characters (Postgres manual, appendix A). */
const codes: ReadonlyMap<string, StoreErrorCode> = new Map<string, StoreErrorCode>([
  ['57014', 'statement_timeout'],
  // Transaction rollback. A standby also reports a query that its replay had to end.
  ['40', 'write_conflict'],
  ['23505', 'write_conflict'],
  // Connection exceptions.
  ['08', 'store_unavailable'],
  // A read-only server, and transactions that took too long.
  ['25006', 'store_unavailable'],
  ['25P03', 'store_unavailable'],
  ['25P04', 'store_unavailable'],
  // A prepared statement that the connection has lost.
  ['26000', 'store_unavailable'],
  // Insufficient resources: disk, memory, connections, configured limits.
  ['53', 'store_unavailable'],
  // Objects in use, locks.
  ['55', 'store_unavailable'],
  // Operator intervention.
  ['57', 'store_unavailable'],
  // Errors outside of Postgres: input and output, files.
  ['58', 'store_unavailable'],
  // A snapshot that is too old.
  ['72', 'store_unavailable'],
  // Authorization, database, privilege.
  ['28', 'store_refused'],
  ['3D000', 'store_refused'],
  ['42501', 'store_refused'],
  // Table, column, type, function, schema.
  ['42P01', 'schema_missing'],
  ['42703', 'schema_missing'],
  ['42704', 'schema_missing'],
  ['42883', 'schema_missing'],
  ['3F000', 'schema_missing'],
]);

/** @param state SQLSTATE, five characters */
export function storeErrorCodeOf(state: string): StoreErrorCode {
  return codes.get(state) ?? codes.get(state.slice(0, 2)) ?? 'query_failed';
}

const unfit: ReadonlySet<StoreErrorCode> = new Set(['schema_missing', 'schema_older', 'schema_newer', 'other_network']);

/** True if the tables do not fit this process. False for every other failure, which says nothing about the tables. */
export function isUnfit(error: unknown): boolean {
  return error instanceof StoreError && unfit.has(error.code);
}

/** Connection exceptions, a shutdown, a server that became a standby, a lost prepared statement. */
const endsConnection = /^(08|57P|25006|26000)/;

/** True if the connection is lost or unusable. False if Postgres refused a statement and serves the next. */
export function isConnectionSpent(error: unknown): boolean {
  if (!(error instanceof StoreError) || error.code !== 'store_unavailable') return false;
  return !(error.cause instanceof DatabaseError) || endsConnection.test(error.data.cause ?? '');
}
