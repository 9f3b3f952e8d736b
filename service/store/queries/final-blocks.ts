import { actions, type ActionRow, type JettonWalletRow } from '../classification-tables.ts';
import type { AccountEditRow, LatestAccountStateRow, TraceRow } from '../tables.ts';
import { ASIDE_MS_MIN } from '../interpretations.ts';
import { anyKeyAt, columnsOf, keyAt, keysAt } from './conditions.ts';
import type { StoreReader } from './reader.ts';
import { foundColumns, type FoundTrace } from './traces.ts';
import { transactionColumns, withVersion, type FoundTransaction } from './transactions.ts';

// Content of one masterchain block for streams. A reader that needs several answers of one moment reads in a snapshot.

/** Blocks before the newest one that are looked at: claims of the interpreter are far nearer. */
const RECENT_BLOCKS = 256;

/** Blocks that an interpreter may leave open below a newer classified block. */
const OPEN_BLOCKS = 48;

/** SQL: no claim lasts so long. */
const isAside = `coalesce(claimed_until > now() + ${ASIDE_MS_MIN} * interval '1 millisecond', false)`;

/**
 * Newest masterchain block that is classified, with no recent block below it that is to do and not put aside. Undefined without such a block.
 * Uses the primary key of `interpretations`.
 */
export async function findNewestClassified(store: StoreReader): Promise<number | undefined> {
  const [row] = await store.read<{ newest: number | null; open: number | null }>(
    `WITH recent AS MATERIALIZED (
        SELECT mc_seqno, todo, ${isAside} AS aside FROM interpretations
        WHERE mc_seqno > greatest(0, (SELECT max(mc_seqno) FROM interpretations) - ${RECENT_BLOCKS})),
      top AS (SELECT max(mc_seqno) AS newest FROM recent WHERE NOT todo)
      SELECT newest, (SELECT min(mc_seqno) FROM recent
        WHERE todo AND NOT aside AND mc_seqno < newest AND mc_seqno > newest - ${OPEN_BLOCKS}) AS open FROM top`,
    [],
    { statement: 'newest_classified' },
  );
  const { newest, open } = row ?? { newest: null, open: null };
  if (newest === null) return undefined;
  return open === null ? newest : open - 1;
}

/** State of a masterchain block that is indexed. */
export type BlockState = {
  /** The interpreter has the block to do, for the first time or again. */
  readonly todo: boolean;
  /** Some version of the interpreter has classified it. */
  readonly known: boolean;
  /** The interpreter cannot classify it now, and tries again minutes later. */
  readonly aside: boolean;
};

/** State of a masterchain block, and the newest indexed seqno. Uses the primary key of `interpretations`. */
export async function findBlockState(
  store: StoreReader,
  mcSeqno: number,
): Promise<{ readonly block: BlockState | undefined; readonly indexed: number | null }> {
  const [row] = await store.read<BlockState & { found: number | null; indexed: number | null }>(
    `SELECT i.mc_seqno AS found, i.todo, i.version > 0 AS known, last.indexed,
       todo AND ${isAside} AS aside
     FROM (SELECT max(mc_seqno) AS indexed FROM interpretations) AS last
     LEFT JOIN interpretations i ON i.mc_seqno = ${keyAt('$1', 'integer')}`,
    [mcSeqno],
    { statement: 'block_state' },
  );
  if (row === undefined) return { block: undefined, indexed: null };
  const { found, indexed, todo, known, aside } = row;
  return { block: found === null ? undefined : { todo, known, aside }, indexed };
}

/** Bounds in lt of the transactions of a masterchain block: partitions outside are not read. */
const withinBlock = (place: string, alias: string): string =>
  `${alias}.mc_seqno = ${keyAt(place, 'integer')}
    AND ${alias}.lt >= (SELECT min(b.start_lt) FROM blocks b WHERE b.mc_seqno = ${place}::integer)
    AND ${alias}.lt <= (SELECT max(b.end_lt) FROM blocks b WHERE b.mc_seqno = ${place}::integer)`;

/** Transactions of a masterchain block and of its new shard blocks, by lt and account. Uses the index on the masterchain block. */
export function findTransactionsOfBlock(store: StoreReader, mcSeqno: number): Promise<readonly FoundTransaction[]> {
  const inner = `SELECT ${transactionColumns} FROM transactions t WHERE ${withinBlock('$1', 't')}`;
  return store.read(withVersion(inner, 'ORDER BY t.lt, t.account'), [mcSeqno], { statement: 'transactions_of_block' });
}

/** Traces by id, in no order. Uses the primary key. */
export function readTraces(store: StoreReader, traceIds: readonly Uint8Array[]): Promise<readonly FoundTrace[]> {
  if (traceIds.length === 0) return Promise.resolve([]);
  return store.read(`SELECT ${foundColumns('e')} FROM traces e WHERE e.trace_id = ${anyKeyAt('$1')}`, [traceIds], {
    statement: 'traces_by_id',
  });
}

/** Traces whose root is in one masterchain block and that were not complete in another, later one. Uses the index on the block. */
export function findTracesOpenFrom(
  store: StoreReader,
  { root, open }: { readonly root: number; readonly open: number },
): Promise<readonly FoundTrace[]> {
  return store.read(
    `SELECT ${foundColumns('e')} FROM transactions t JOIN traces e ON e.trace_id = t.hash
     WHERE ${withinBlock('$1', 't')} AND t.trace_id = t.hash
       AND (e.state <> 0 OR e.mc_seqno_end > ${keyAt('$2', 'integer')})`,
    [root, open],
    { statement: 'traces_open_from' },
  );
}

/** Transactions of a trace up to a masterchain block. */
export type TraceCount = {
  readonly trace_id: Buffer;
  /** In the blocks before. */
  readonly before: number;
  readonly through: number;
};

/** Counts transactions of traces up to a masterchain block. Uses the index on trace and lt. */
export function countTransactionsUntil(
  store: StoreReader,
  rows: readonly Pick<TraceRow, 'trace_id' | 'start_lt'>[],
  mcSeqno: number,
): Promise<readonly TraceCount[]> {
  if (rows.length === 0) return Promise.resolve([]);
  return store.read(
    `SELECT t.trace_id, (count(*) FILTER (WHERE t.mc_seqno < $3::integer))::integer AS before, count(*)::integer AS through
     FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS w (trace_id, start_lt)
     JOIN transactions t ON t.trace_id = w.trace_id AND t.lt >= w.start_lt AND t.mc_seqno <= $3::integer
       AND t.lt <= (SELECT max(b.end_lt) FROM blocks b WHERE b.mc_seqno = $3::integer)
     GROUP BY t.trace_id`,
    [rows.map((row) => row.trace_id), rows.map((row) => row.start_lt), mcSeqno],
    { statement: 'transactions_until' },
  );
}

/** Transactions of traces in the blocks before a masterchain block, by lt and account. Uses the index on trace and lt. */
export function findTransactionsBefore(
  store: StoreReader,
  rows: readonly Pick<TraceRow, 'trace_id' | 'start_lt'>[],
  mcSeqno: number,
): Promise<readonly FoundTransaction[]> {
  if (rows.length === 0) return Promise.resolve([]);
  const inner = `SELECT ${transactionColumns}
    FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS w (trace_id, start_lt)
    JOIN transactions t ON t.trace_id = w.trace_id AND t.lt >= w.start_lt AND t.mc_seqno < $3::integer
      AND t.lt <= (SELECT max(b.end_lt) FROM blocks b WHERE b.mc_seqno = $3::integer)`;
  return store.read(
    withVersion(inner, 'ORDER BY t.lt, t.account'),
    [rows.map((row) => row.trace_id), rows.map((row) => row.start_lt), mcSeqno],
    { statement: 'transactions_before' },
  );
}

/** All actions of traces, also those that no caller sees beside another: newest first within a trace. Uses the primary key. */
export function findAllActionsOfTraces(
  store: StoreReader,
  traceIds: readonly Uint8Array[],
): Promise<readonly ActionRow[]> {
  if (traceIds.length === 0) return Promise.resolve([]);
  return store.read(
    `SELECT ${columnsOf(actions, 'a')} FROM actions a WHERE a.trace_id = ${anyKeyAt('$1')}
     ORDER BY a.trace_id, a.end_lt DESC, a.start_lt DESC, a.action_id DESC`,
    [traceIds],
    { statement: 'all_actions_of_traces' },
  );
}

/** A change without a transaction, and the last transaction of the resulting state while that is the newest one. */
export type FoundEdit = Pick<AccountEditRow, 'account' | 'lt'> & {
  readonly hash: Buffer;
  readonly last_trans_hash: LatestAccountStateRow['last_trans_hash'] | null;
  readonly last_trans_lt: bigint | null;
};

/** Changes of accounts without a transaction in a masterchain block, by lt and account. Uses the index on the block. */
export function findEditsOfBlock(store: StoreReader, mcSeqno: number): Promise<readonly FoundEdit[]> {
  return store.read(
    `SELECT e.account, e.lt, e.hash, l.last_trans_hash, l.last_trans_lt
     FROM account_edits e LEFT JOIN latest_account_states l ON l.account = e.account AND l.changed_lt = e.lt
     WHERE e.mc_seqno = ${keyAt('$1', 'integer')} ORDER BY e.lt, e.account`,
    [mcSeqno],
    { statement: 'edits_of_block' },
  );
}

/** An account that is a jetton wallet after a transaction, with its newest indexed state. */
export type FoundWallet = Pick<
  JettonWalletRow,
  'address' | 'balance' | 'owner' | 'jetton' | 'last_trans_lt' | 'code_hash' | 'data_hash'
>;

/** Jetton wallets among accounts after their transactions, in no order. Uses the primary keys of facts and wallets. */
export function findWalletsAfter(
  store: StoreReader,
  places: readonly { readonly account: Uint8Array; readonly lt: bigint }[],
): Promise<readonly FoundWallet[]> {
  if (places.length === 0) return Promise.resolve([]);
  return store.read(
    `SELECT w.address, w.balance, w.owner, w.jetton, w.last_trans_lt, w.code_hash, w.data_hash
     FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS given (account, lt)
     CROSS JOIN LATERAL (
       SELECT f.until_lt, f.facts FROM interface_facts f WHERE f.account = given.account AND f.after_lt < given.lt
       ORDER BY f.after_lt DESC LIMIT 1) AS known
     CROSS JOIN LATERAL (SELECT * FROM jetton_wallets j WHERE j.address = given.account LIMIT 1) AS w
     WHERE known.until_lt >= given.lt AND known.facts ? 'jettonWallet'`,
    [places.map(({ account }) => account), places.map(({ lt }) => lt)],
    { statement: 'wallets_after' },
  );
}

/** Jetton wallets among accounts, in no order. Uses the primary key of wallets. */
export function findWallets(store: StoreReader, accounts: readonly Uint8Array[]): Promise<readonly FoundWallet[]> {
  if (accounts.length === 0) return Promise.resolve([]);
  return store.read(
    `SELECT w.address, w.balance, w.owner, w.jetton, w.last_trans_lt, w.code_hash, w.data_hash
     FROM jetton_wallets w WHERE w.address = ${anyKeyAt('$1')}`,
    [accounts],
    { statement: 'wallets' },
  );
}

/** Classification of traces that have one of these hashes: of the root, or of its message as sent or normalised. */
export type NamedTrace = Pick<TraceRow, 'trace_id' | 'state' | 'mc_seqno_start' | 'mc_seqno_end'>;

/**
 * Traces by a hash of the root transaction or of the external message that began them; newest first. Uses the primary key, the index on the
 * inbound message, and the index on normalised hashes.
 */
export function findTracesNamed(store: StoreReader, hash: Uint8Array): Promise<readonly NamedTrace[]> {
  return store.read(
    `WITH sent AS MATERIALIZED (
        SELECT $1::bytea AS hash UNION SELECT m.hash FROM messages m WHERE m.hash_norm = ${keyAt('$1')}),
      named AS MATERIALIZED (
        SELECT $1::bytea AS trace_id
        UNION SELECT t.trace_id FROM transactions t WHERE t.in_msg_hash = ANY(ARRAY(SELECT hash FROM sent)) AND t.trace_id = t.hash)
      SELECT e.trace_id, e.state, e.mc_seqno_start, e.mc_seqno_end FROM traces e
      WHERE e.trace_id = ANY(ARRAY(SELECT trace_id FROM named))
      ORDER BY e.end_lt DESC, e.trace_id DESC LIMIT 16`,
    [hash],
    { statement: 'traces_named' },
  );
}

const masterchain = `b.workchain = -1 AND b.shard = ${-(2n ** 63n)}`;

/**
 * Oldest masterchain block from which all blocks up to a block are indexed, within some seconds before that block. Undefined if the block
 * itself is not indexed. Uses the primary key of blocks and the index on time.
 */
export async function findOldestBefore(
  store: StoreReader,
  { newest, seconds }: { readonly newest: number; readonly seconds: number },
): Promise<number | undefined> {
  const [row] = await store.read<{ oldest: number | null }>(
    `WITH last AS (SELECT b.gen_utime::bigint & 4294967295 AS utime FROM blocks b WHERE ${masterchain} AND b.seqno = $1::integer),
      within AS (SELECT b.seqno FROM blocks b WHERE ${masterchain} AND b.seqno <= $1::integer
        AND b.seqno > $1::integer - ${BLOCKS_OF_WINDOW_MAX}
        AND (b.gen_utime::bigint & 4294967295) >= (SELECT utime FROM last) - $2::integer),
      steps AS (SELECT seqno, lag(seqno) OVER (ORDER BY seqno) AS former FROM within)
      SELECT max(seqno) AS oldest FROM steps WHERE former IS NULL OR former <> seqno - 1`,
    [newest, seconds],
    { statement: 'oldest_before' },
  );
  return row?.oldest ?? undefined;
}

/** Masterchain blocks of a window that are looked at: three a second for a day. */
const BLOCKS_OF_WINDOW_MAX = 3 * 86_400;

/** An lt of the blocks of a range up to `$4`. A shard may lag behind the masterchain, so all blocks of the range count. */
const ofBlocks = (lt: string, since: string): string =>
  `(SELECT ${lt} FROM blocks b WHERE b.mc_seqno BETWEEN ${since} AND $4::integer)`;

/** Accounts and traces whose changes are looked for, in a range of masterchain blocks. */
export type TouchedFilter = {
  /** Keys of `accountKey`. */
  readonly accounts: readonly Uint8Array[];
  /** Hashes of roots or of their external messages, as sent or normalised. */
  readonly traces: readonly Uint8Array[];
  readonly from: number;
  readonly to: number;
  /** Beyond these an open trace has changes before its end. */
  readonly openBlocks: number;
  readonly openTransactions: number;
};

/**
 * Masterchain blocks of a range that may have changes of accounts or traces, ascending; a few more than have. Transactions and edits of an
 * account or its jetton wallets are changes. So are ends of traces and actions of the account. Uses the indexes on account and lt, those on
 * the owner of wallets, and those of `findTracesNamed`.
 */
export async function findTouchedBlocks(
  store: StoreReader,
  { accounts, traces, from, to, openBlocks, openTransactions }: TouchedFilter,
): Promise<readonly number[]> {
  const rows = await store.read<{ seqno: number }>(
    `WITH bounds AS MATERIALIZED (SELECT
        ${ofBlocks('min(b.start_lt)', '$3::integer')} AS since,
        ${ofBlocks('min(b.start_lt)', '$3::integer - 1 - $5::integer')} AS early,
        ${ofBlocks('max(b.end_lt)', '$3::integer')} AS until),
      own AS MATERIALIZED (SELECT unnest(${keysAt('$1')}) AS key),
      keys AS MATERIALIZED (
        SELECT key FROM own UNION SELECT w.address FROM own JOIN jetton_wallets w ON w.owner = own.key),
      moved AS MATERIALIZED (SELECT t.mc_seqno, t.trace_id FROM keys CROSS JOIN bounds CROSS JOIN LATERAL (
        SELECT t.mc_seqno, t.trace_id FROM transactions t
        WHERE t.account = keys.key AND t.lt >= bounds.early AND t.lt <= bounds.until ORDER BY t.lt) AS t),
      sent AS MATERIALIZED (
        SELECT unnest(${keysAt('$2')}) AS hash
        UNION SELECT m.hash FROM messages m WHERE m.hash_norm = ${anyKeyAt('$2')}),
      ids AS MATERIALIZED (
        SELECT trace_id FROM moved
        UNION SELECT a.trace_id FROM own CROSS JOIN bounds CROSS JOIN LATERAL (
          SELECT a.trace_id FROM trace_accounts a
          WHERE a.account = own.key AND a.end_lt >= bounds.since AND a.end_lt <= bounds.until ORDER BY a.end_lt) AS a
        UNION SELECT a.trace_id FROM own CROSS JOIN bounds CROSS JOIN LATERAL (
          SELECT a.trace_id FROM action_accounts a
          WHERE a.account = own.key AND a.trace_end_lt >= bounds.since AND a.trace_end_lt <= bounds.until
          ORDER BY a.trace_end_lt) AS a
        UNION SELECT hash FROM sent
        UNION SELECT t.trace_id FROM transactions t WHERE t.in_msg_hash = ANY(ARRAY(SELECT hash FROM sent)) AND t.trace_id = t.hash),
      found AS MATERIALIZED (
        SELECT e.* FROM traces e WHERE e.trace_id = ANY(ARRAY(SELECT trace_id FROM ids))),
      portioned AS MATERIALIZED (
        SELECT e.* FROM found e WHERE e.state <> 0 OR e.mc_seqno_end - e.mc_seqno_start > $5::integer OR e.nodes > $6::integer),
      seqnos AS (
        SELECT mc_seqno AS seqno FROM moved
        UNION SELECT e.mc_seqno FROM own CROSS JOIN bounds CROSS JOIN LATERAL (
          SELECT e.mc_seqno FROM account_edits e WHERE e.account = own.key AND e.lt >= bounds.since AND e.lt <= bounds.until) AS e
        UNION SELECT mc_seqno_end FROM found
        UNION SELECT mc_seqno_start + $5::integer + 1 FROM portioned
        UNION SELECT t.mc_seqno FROM portioned e CROSS JOIN bounds CROSS JOIN LATERAL (
          SELECT t.mc_seqno FROM transactions t
          WHERE t.trace_id = e.trace_id AND t.lt >= bounds.since AND t.lt <= bounds.until) AS t)
      SELECT seqno FROM seqnos WHERE seqno BETWEEN $3::integer AND $4::integer ORDER BY seqno`,
    [accounts, traces, from, to, openBlocks, openTransactions],
    { statement: 'touched_blocks' },
  );
  return rows.map(({ seqno }) => seqno);
}
