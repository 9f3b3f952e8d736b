import { DatabaseError } from 'pg';

import { TonplaneError } from '../error.ts';

/**
 * - `store_unavailable`: Postgres is away, starting, or has no connection left
 * - `statement_timeout`: a query took longer than it was given
 * - `write_conflict`: two writers met; the same transaction may be tried again
 * - `query_failed`: Postgres refused a statement
 * - `schema_missing`, `schema_older`, `schema_newer`: the tables are not those of this version
 * - `other_network`: the tables hold another network, or begin at another block
 * - `lease_lost`: another head writer has taken over
 * - `range_lost`: a range of the past is not this worker's any more
 * - `claim_lost`: what these blocks mean is told by another worker now, or they have changed meanwhile
 * - `out_of_order`: a batch does not begin where the index ends
 */
export type StoreErrorCode =
  | 'store_unavailable'
  | 'statement_timeout'
  | 'write_conflict'
  | 'query_failed'
  | 'schema_missing'
  | 'schema_older'
  | 'schema_newer'
  | 'other_network'
  | 'lease_lost'
  | 'range_lost'
  | 'claim_lost'
  | 'out_of_order';

/** What happened, without values of rows. */
export type StoreErrorData = {
  /** SQLSTATE or the system's code. */
  readonly cause?: string;
  readonly found?: string | number;
  readonly expected?: string | number;
};

const retryable: ReadonlySet<StoreErrorCode> = new Set(['store_unavailable', 'write_conflict']);

/** The index in Postgres cannot be read or written as asked. */
export class StoreError extends TonplaneError<StoreErrorCode, StoreErrorData> {
  constructor(code: StoreErrorCode, message: string, data: StoreErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: retryable.has(code), cause });
  }
}

/** A call of `pg`, whose failure is one of ours. */
export async function told<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw storeError(cause);
  }
}

function storeError(cause: unknown): unknown {
  if (cause instanceof TonplaneError || !(cause instanceof Error)) return cause;
  // A mistake of ours, such as a value that cannot be encoded.
  if (cause instanceof TypeError || cause instanceof RangeError) return cause;
  const state = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const code = cause instanceof DatabaseError ? codeOf(state ?? '') : 'store_unavailable';
  return new StoreError(code, cause.message, state === undefined ? {} : { cause: state }, cause);
}

/** By classes of SQLSTATE (Postgres manual, appendix A). */
function codeOf(state: string): StoreErrorCode {
  if (state === '57014') return 'statement_timeout';
  if (state === '40001' || state === '40P01' || state === '55P03' || state === '23505') return 'write_conflict';
  // Connection exceptions, operator intervention, too many connections, a server that only reads.
  if (/^(08|57P|53300|25006)/.test(state)) return 'store_unavailable';
  return state === '42P01' || state === '3F000' ? 'schema_missing' : 'query_failed';
}
