import { address, hash, int, lt } from './columns.ts';
import { encodeArray } from './field-encoding.ts';
import type { InterfaceFactsRow } from './classification-tables.ts';
import type { Query } from './store.ts';
import type { AccountEditRow, AccountStateRow, CodeRow, TraceRow, TransactionRow } from './tables.ts';
import { TRACE_STATE } from './trace-plan.ts';

// The interpreter reads the ledger from the primary: a replica may not have the claimed blocks yet.

/** A transaction to be read. */
export type StoredTransaction = Pick<
  TransactionRow,
  'hash' | 'lt' | 'account' | 'mc_seqno' | 'workchain' | 'trace_id'
> & { readonly boc: Buffer };

const columns = 'hash, lt, account, mc_seqno, workchain, trace_id, boc';

/** All transactions of masterchain blocks, by lt and account. */
export function readBlockTransactions(query: Query, seqnos: readonly number[]): Promise<StoredTransaction[]> {
  return query(`SELECT ${columns} FROM transactions WHERE mc_seqno = ANY ($1::integer[]) ORDER BY lt, account`, [
    encodeArray(int, seqnos),
  ]);
}

/** Transactions that received messages, in the traces of the messages. */
export function readTakers(
  query: Query,
  messages: readonly Uint8Array[],
  traces: readonly Uint8Array[],
  fromLt: bigint,
): Promise<StoredTransaction[]> {
  // The bounds spare looking into the partitions of all other lts.
  return query(
    `SELECT ${columns} FROM transactions WHERE in_msg_hash = ANY ($1::bytea[]) AND lt > $2
       AND lt <= (SELECT max(end_lt) FROM traces WHERE trace_id = ANY ($3::bytea[]))`,
    [encodeArray(hash, messages), fromLt, encodeArray(hash, traces)],
  );
}

/** Complete traces that ended in masterchain blocks. */
export function readCompleteTraces(query: Query, seqnos: readonly number[]): Promise<TraceRow[]> {
  return query(
    `SELECT * FROM traces WHERE mc_seqno_end = ANY ($1::integer[]) AND state = ${TRACE_STATE.complete} ORDER BY end_lt, trace_id`,
    [encodeArray(int, seqnos)],
  );
}

/** Transactions of traces from other masterchain blocks, by lt and account. */
export async function readEarlierTransactions(
  query: Query,
  traces: readonly Pick<TraceRow, 'trace_id' | 'start_lt' | 'end_lt'>[],
  seqnos: readonly number[],
): Promise<StoredTransaction[]> {
  const [first] = traces;
  if (first === undefined) return [];
  const from = traces.reduce((least, { start_lt }) => (start_lt < least ? start_lt : least), first.start_lt);
  const to = traces.reduce((most, { end_lt }) => (end_lt > most ? end_lt : most), first.end_lt);
  // The bounds spare looking into the partitions of all other lts.
  return query(
    `SELECT ${columns} FROM transactions
     WHERE trace_id = ANY ($1::bytea[]) AND lt >= $2 AND lt <= $3 AND mc_seqno <> ALL ($4::integer[]) ORDER BY lt, account`,
    [
      encodeArray(
        hash,
        traces.map(({ trace_id }) => trace_id),
      ),
      from,
      to,
      encodeArray(int, seqnos),
    ],
  );
}

/** The code of a state, by the state's hash. */
export type StateCode = Pick<AccountStateRow, 'hash' | 'code_hash'> & Pick<CodeRow, 'methods'>;

/** Code of indexed states. */
export function readStateCodes(query: Query, hashes: readonly Uint8Array[]): Promise<StateCode[]> {
  return query(
    `SELECT s.hash, s.code_hash, c.methods FROM account_states s LEFT JOIN codes c ON c.code_hash = s.code_hash
     WHERE s.hash = ANY ($1::bytea[])`,
    [encodeArray(hash, hashes)],
  );
}

/** An account after a transaction. */
export type FactsPlace = { readonly account: Uint8Array; readonly lt: bigint };

/** Results of a version of the interpreter for accounts after their transactions. Accounts that it did not examine are absent. */
export function readFacts(
  query: Query,
  places: readonly FactsPlace[],
  version: number,
): Promise<(InterfaceFactsRow & FactsPlace)[]> {
  return query(
    `SELECT given.lt, stored.* FROM unnest($1::bytea[], $2::bigint[]) AS given (account, lt)
     CROSS JOIN LATERAL (
       SELECT * FROM interface_facts f WHERE f.account = given.account AND f.after_lt < given.lt
       ORDER BY f.after_lt DESC LIMIT 1) AS stored
     WHERE stored.until_lt >= given.lt AND stored.version = $3`,
    [
      encodeArray(
        address,
        places.map(({ account }) => account),
      ),
      encodeArray(
        lt,
        places.map((place) => place.lt),
      ),
      version,
    ],
  );
}

/** An account that a masterchain block, or a shard block of it, changed without a transaction. */
export type StoredEdit = Pick<AccountEditRow, 'account' | 'lt' | 'mc_seqno'> & StateCode;

/** Changes of accounts without a transaction in masterchain blocks, with the resulting code. */
export function readEdits(query: Query, seqnos: readonly number[]): Promise<StoredEdit[]> {
  return query(
    `SELECT e.account, e.lt, e.mc_seqno, s.hash, s.code_hash, c.methods
     FROM account_edits e JOIN account_states s ON s.hash = e.hash LEFT JOIN codes c ON c.code_hash = s.code_hash
     WHERE e.mc_seqno = ANY ($1::integer[]) ORDER BY e.lt, e.account`,
    [encodeArray(int, seqnos)],
  );
}

/** The newest change without a transaction before each position; positions without such a change are absent. */
export function readEditsBefore(
  query: Query,
  places: readonly FactsPlace[],
): Promise<(FactsPlace & { readonly edit_lt: bigint })[]> {
  return query(
    `SELECT given.account, given.lt, max(e.lt) AS edit_lt
     FROM unnest($1::bytea[], $2::bigint[]) AS given (account, lt)
     JOIN account_edits e ON e.account = given.account AND e.lt < given.lt GROUP BY given.account, given.lt`,
    [
      encodeArray(
        address,
        places.map(({ account }) => account),
      ),
      encodeArray(
        lt,
        places.map((place) => place.lt),
      ),
    ],
  );
}
