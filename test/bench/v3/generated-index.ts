import { migrate } from '#service/store/migrate.ts';
import { createPartitions, PARTITION_LTS } from '#service/store/partitions.ts';
import type { Store } from '#service/store/store.ts';
import type { Table } from '#service/store/columns.ts';
import { blocks } from '#service/store/tables.ts';
import { loadTemplates } from './templates.ts';

// An index of any size, made inside Postgres from its row numbers alone: the same for the same size. Statistically like mainnet: one account has
// some percent of all transactions and most have a few (log-uniform), traces have five transactions, half a dozen opcodes are most of all.

export const transactionsOfTrace = 5;
export const transactionsOfBlock = 150;
/** Half a year of mainnet between the first and the last of 5,000,000. */
export const ltsOfTransaction = 4_000_000n;
export const firstLt = 40_000_000_000_000n;
export const firstUtime = 1_750_000_000;
/** In one second. */
const transactionsOfSecond = 60;
/** Rows of one statement. */
const chunk = 250_000;
const codesOfContracts = 200;

/** Expressions over a row number. */
export const generated = {
  lt: (n: string): string => `(${firstLt} + (${n})::bigint * ${ltsOfTransaction})`,
  utime: (n: string): string => `(${firstUtime} + ((${n}) / ${transactionsOfSecond}))::integer`,
  hash: (kind: string, n: string): string => `sha256(convert_to('${kind}' || (${n})::text, 'UTF8'))`,
  block: (n: string): string => `((${n}) / ${transactionsOfBlock} + 1)::integer`,
  /** Of the account whose place by activity this is, 0 the busiest. */
  accountAt: (place: string): string => `'\\x80'::bytea || sha256(int8send((${place})::bigint))`,
};

const { lt, utime, hash, block, accountAt } = generated;

/** 0 to 1. */
const unit = (kind: string, n: string): string =>
  `((hashtextextended('${kind}', (${n})::bigint) & 4503599627370495)::float8 / 4503599627370496)`;
/** Whole numbers below `count`; each is drawn in proportion to the inverse of its place. */
export const skewed = (kind: string, n: string, count: number): string =>
  `floor(power(${count}::float8, ${unit(kind, n)}) - 1)::bigint`;

const rootOf = (n: string): string => `((${n}) - (${n}) % ${transactionsOfTrace})`;

/** Accounts of so many transactions. */
export function accountsOf(transactions: number): number {
  return Math.ceil(transactions / 5);
}

export async function generateIndex(store: Store, transactions: number, tell: (text: string) => void): Promise<void> {
  await migrate(store);
  const accounts = accountsOf(transactions);
  const account = (n: string): string => accountAt(skewed('account', n, accounts));
  const lts = Array.from({ length: transactions / 1000 }, (_, n) => firstLt + BigInt(n * 1000) * ltsOfTransaction);
  await createPartitions(store).ensure([...ltsBefore(), ...lts]);
  const indexes = await dropIndexes(store);
  await loadTemplates(store, codesOfContracts, codeOf);
  const fill = (what: string, count: number, statement: Filling['statement']): Promise<void> =>
    fillTable(store, { what, count, statement }, tell);
  await fill('transactions', transactions, (numbers) => transactionRows(numbers, account));
  await fill('messages', transactions, (numbers) => messageRows(numbers, account));
  await fill('blocks', Math.ceil(transactions / transactionsOfBlock), blockRows);
  await fill('traces', Math.ceil(transactions / transactionsOfTrace), (numbers) => traceRows(numbers, account));
  await fill('states', transactions, stateRows);
  await fill('accounts', accounts, accountRows);
  await buildIndexes(store, indexes, tell);
}

/** Of the older partitions that an index since the first block has: nothing is in them here, but queries are planned over them too. */
function ltsBefore(): readonly bigint[] {
  return Array.from({ length: Number(firstLt / PARTITION_LTS) }, (_, at) => BigInt(at) * PARTITION_LTS);
}

/** Fills tables by their names; their indexes are built at the end, over what was in them too. */
export async function generateRows(
  store: Store,
  tables: readonly string[],
  fillings: readonly Filling[],
  tell: (text: string) => void,
): Promise<void> {
  const indexes = await dropIndexes(store, tables);
  for (const filling of fillings) {
    // Triggers look for old ones with every row: a plan that was made while there were none reads all of them.
    await store.transaction(({ query }) => query('ANALYZE account_changes'), { durable: false });
    await fillTable(store, filling, tell);
  }
  await buildIndexes(store, indexes, tell);
}

/** One table to fill: how many numbers, and the statement over some of them. */
export type Filling = {
  readonly what: string;
  readonly count: number;
  /** @param numbers a relation with the column `n` */
  readonly statement: (numbers: string) => string;
};

async function fillTable(
  store: Store,
  { what, count, statement }: Filling,
  tell: (text: string) => void,
): Promise<void> {
  for (let from = 0; from < count; from += chunk) {
    const to = Math.min(count, from + chunk) - 1;
    await store.transaction(({ query }) => query(statement(`generate_series(${from}, ${to}) AS n`)), {
      durable: false,
    });
    tell(`${what} ${to + 1} of ${count}`);
  }
}

async function buildIndexes(store: Store, statements: readonly string[], tell: (text: string) => void): Promise<void> {
  for (const statement of statements) {
    tell(statement);
    await store.transaction(({ query }) => query(statement), { durable: false });
  }
  await vacuum(store);
}

/** Built at the end, which takes a fraction of the time. @param tables all when absent */
async function dropIndexes(store: Store, tables?: readonly string[]): Promise<string[]> {
  return store.transaction(async ({ query }) => {
    const ofTables = `c.relnamespace = '${store.schema}'::regnamespace AND NOT c.relispartition AND ($1::text[] IS NULL OR c.relname = ANY($1::text[]))`;
    const keys = await query<Dropped>(
      `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.oid::regclass, k.conname) AS drop,
         format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.oid::regclass, k.conname, pg_get_constraintdef(k.oid)) AS build
       FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype IN ('p', 'u') AND ${ofTables}`,
      [tables ?? null],
    );
    const indexes = await query<Dropped>(
      `SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS drop, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS build
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid) AND ${ofTables}`,
      [tables ?? null],
    );
    for (const { drop } of [...keys, ...indexes]) await query(drop);
    return [...keys, ...indexes].map(({ build }) => build);
  });
}

/** Statements that take an index away and make it again. */
type Dropped = { readonly drop: string; readonly build: string };

/** What no query looks for. */
const restOfBlock = zerosOf(blocks, [
  'workchain',
  'shard',
  'seqno',
  'mc_seqno',
  'root_hash',
  'file_hash',
  'gen_utime',
  'start_lt',
  'end_lt',
  'tx_count',
]);

function zerosOf({ columns }: Table, named: readonly string[]): { readonly names: string; readonly values: string } {
  const zeros: Readonly<Record<string, string>> = { bytea: "sha256('')", boolean: 'false' };
  const rest = Object.entries(columns).filter(([name, kind]) => !named.includes(name) && !kind.nullable);
  return {
    names: rest.map(([name]) => name).join(', '),
    values: rest.map(([, { sql }]) => zeros[sql] ?? '0').join(', '),
  };
}

type AccountOf = (n: string) => string;

/** Half a dozen are most of all, and a third of the bodies is the same. */
const opcode = (kind: string): string => `(${skewed(`opcode ${kind}`, 'n', 400)} * 40503 + 7)::integer`;
const body = (kind: string): string =>
  hash('b', `CASE WHEN n % 3 = 0 THEN 0 ELSE ${skewed(`body ${kind}`, 'n', 1_000_000)} END`);

/** Neighbours are of several shards: which bag stands for one says nothing of the next. */
function transactionRows(numbers: string, account: AccountOf): string {
  return `INSERT INTO transactions (hash, lt, account, utime, mc_seqno, workchain, shard, seqno, trace_id, in_msg_hash, in_opcode, in_body_hash, boc)
    SELECT ${hash('t', 'n')}, ${lt('n')}, ${account('n')}, ${utime('n')}, ${block('n')}, 0, ${-(2n ** 63n)}, ${block('n')},
      ${hash('t', rootOf('n'))}, ${hash('m', 'n')}, ${opcode('in')}, ${body('in')}, boc
    FROM ${numbers} JOIN templates ON place = (hashint8(n) & 2147483647) % template_count()`;
}

/** Three of each transaction: the one it took, from outside at the root of a trace, and two that it sent to outside. */
function messageRows(numbers: string, account: AccountOf): string {
  const isRoot = `n % ${transactionsOfTrace} = 0`;
  const sent = [1, 2].map(
    (place) => `SELECT ${hash(`o${place}`, 'n')}, ${lt('n')} + ${place}, NULL::bytea, 2, ${account('n')}, NULL::bytea,
      ${lt('n')} + ${place}, ${utime('n')}, ${opcode(`${place}`)}, ${body(`${place}`)} FROM ${numbers}`,
  );
  return `INSERT INTO messages (hash, lt, hash_norm, kind, source, destination, created_lt, created_at, opcode, body_hash)
    SELECT ${hash('m', 'n')}, CASE WHEN ${isRoot} THEN ${lt('n')} ELSE ${lt('n - 1')} + 3 END,
      CASE WHEN ${isRoot} THEN ${hash('n', 'n')} END, CASE WHEN ${isRoot} THEN 0 ELSE 1 END,
      CASE WHEN ${isRoot} THEN NULL ELSE ${account('n - 1')} END, ${account('n')},
      CASE WHEN ${isRoot} THEN NULL ELSE ${lt('n - 1')} + 3 END, CASE WHEN ${isRoot} THEN NULL ELSE ${utime('n - 1')} END,
      ${opcode('in')}, ${body('in')} FROM ${numbers}
    UNION ALL ${sent.join(' UNION ALL ')}`;
}

function blockRows(numbers: string): string {
  const first = `n * ${transactionsOfBlock}`;
  const of = (
    workchain: number,
    kind: string,
  ): string => `SELECT ${workchain}, ${-(2n ** 63n)}, n + 1, n + 1, ${hash(`r${kind}`, 'n')}, ${hash(`f${kind}`, 'n')},
    ${utime(`${first} + ${transactionsOfBlock - 1}`)}, ${lt(first)}, ${lt(`${first} + ${transactionsOfBlock}`)} - 1, ${workchain === 0 ? transactionsOfBlock : 0} FROM ${numbers}`;
  return `WITH made AS (
      INSERT INTO blocks (workchain, shard, seqno, mc_seqno, root_hash, file_hash, gen_utime, start_lt, end_lt, tx_count, ${restOfBlock.names})
      SELECT given.*, ${restOfBlock.values} FROM (${of(-1, 'm')} UNION ALL ${of(0, 's')}) AS given RETURNING mc_seqno, workchain, shard, seqno)
    INSERT INTO shard_tops (mc_seqno, workchain, shard, seqno) SELECT mc_seqno, workchain, shard, seqno FROM made`;
}

function traceRows(numbers: string, account: AccountOf): string {
  const [first, last] = [`n * ${transactionsOfTrace}`, `n * ${transactionsOfTrace} + ${transactionsOfTrace - 1}`];
  return `WITH made AS (
      INSERT INTO traces (trace_id, external_hash, external_hash_norm, mc_seqno_start, mc_seqno_end, start_lt, start_utime, end_lt, end_utime,
        state, pending_edges, edges, nodes)
      SELECT ${hash('t', first)}, ${hash('m', first)}, ${hash('n', first)}, ${block(first)}, ${block(last)}, ${lt(first)}, ${utime(first)},
        ${lt(last)}, ${utime(last)}, 0, 0, ${transactionsOfTrace * 3}, ${transactionsOfTrace} FROM ${numbers})
    INSERT INTO trace_accounts (account, trace_id, end_lt, end_utime)
    SELECT DISTINCT ${account(`${first} + p`)}, ${hash('t', first)}, ${lt(last)}, ${utime(last)}
    FROM ${numbers}, generate_series(0, ${transactionsOfTrace - 1}) AS p`;
}

const codeOf = (n: string): string => hash('c', `(${n}) % ${codesOfContracts}`);

function stateRows(numbers: string): string {
  return `INSERT INTO account_states (hash, balance, status, data_hash, code_hash)
    SELECT ${hash('s', 'n')}, ${skewed('balance', 'n', 1e15)}, 2, ${hash('d', 'n')}, ${codeOf('n')} FROM ${numbers}`;
}

function accountRows(numbers: string): string {
  return `INSERT INTO latest_account_states (account, hash, balance, status, utime, last_trans_hash, last_trans_lt, data_hash, code_hash)
    SELECT ${accountAt('n')}, ${hash('s', 'n')}, ${skewed('balance', 'n', 1e15)}, 2, ${utime('n')}, ${hash('t', 'n')}, ${lt('n')},
      ${hash('d', 'n')}, ${codeOf('n')} FROM ${numbers}`;
}

/** Not under a bound on time, nor in a transaction. */
async function vacuum(store: Store): Promise<void> {
  const client = await store.connect();
  try {
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
