import type { Store } from '#service/store/store.ts';
import { generated, transactionsOfBlock, transactionsOfTrace } from './generated-index.ts';

/** Requests of one kind, the first word of whose name is the operation. */
export type Requests = {
  readonly name: string;
  /** The query of a turn: other objects each time. */
  readonly query: (turn: number) => string;
};

/** Objects to ask for, drawn as they are in the index: busy accounts more often. */
type Sample = {
  readonly account: string;
  readonly hash: string;
  readonly message: string;
  readonly trace: string;
  readonly opcode: number;
  readonly body: string;
  readonly lt: bigint;
  readonly utime: number;
  readonly mcSeqno: number;
};

const samples = 220;

const account = (row: Sample): string => `account=0:${row.account}`;
const opcode = (row: Sample): string => `opcode=0x${row.opcode.toString(16).padStart(8, '0')}`;
const hour = (row: Sample): string => `start_utime=${row.utime - 3600}&end_utime=${row.utime}`;
/** Pages of 100, unless the request says otherwise. */
const withLimit = (query: string): string => (query.includes('limit=') ? query : `limit=100&${query}`);
export const list = (requests: Readonly<Record<string, (turn: number) => string>>): Requests[] =>
  Object.entries(requests).map(([name, query]) => ({ name, query: (turn) => withLimit(query(turn)) }));
const hex = (expression: string): string => `encode(${expression}, 'hex')`;

export async function requestsOf(store: Store, transactions: number): Promise<readonly Requests[]> {
  const rows = await drawSamples(store, transactions);
  const of = (make: (row: Sample) => string) => (turn: number) => make(rows[turn % rows.length] as Sample);
  const [busiest] = await store.read<{ account: string }>(
    `SELECT encode(substr(${generated.accountAt('0')}, 2), 'hex') AS account`,
  );
  const busy = `account=0:${busiest?.account ?? ''}`;
  return list({
    masterchainInfo: () => '',
    'masterchainBlockShardState by seqno': of(({ mcSeqno }) => `seqno=${mcSeqno}`),
    'masterchainBlockShards by seqno': of(({ mcSeqno }) => `seqno=${mcSeqno}`),
    'blocks latest': () => 'workchain=-1',
    'blocks in an hour': of(hour),
    'blocks by mc_seqno': of(({ mcSeqno }) => `mc_seqno=${mcSeqno}`),
    'transactions latest': () => '',
    'transactions of an account': of(account),
    'transactions of an account, oldest first': of((row) => `${account(row)}&sort=asc`),
    'transactions of the busiest account, page 11': () => `${busy}&offset=1000`,
    'transactions of the busiest account in an hour': of((row) => `${busy}&${hour(row)}`),
    'transactions of an account and another': of((row) => `${account(row)}&${busy}`),
    'transactions in an hour': of(hour),
    'transactions in a window of lt': of(({ lt }) => `start_lt=${lt}&end_lt=${lt + 10_000_000_000n}&sort=asc`),
    'transactions by hash': of(({ hash }) => `hash=${hash}`),
    'transactions of a block': of(({ mcSeqno }) => `workchain=0&shard=8000000000000000&seqno=${mcSeqno}`),
    'transactionsByMasterchainBlock by seqno': of(({ mcSeqno }) => `seqno=${mcSeqno}`),
    'transactionsByMessage by hash': of(({ message }) => `msg_hash=${message}`),
    'transactionsByMessage by opcode': of(opcode),
    'transactionsByMessage by opcode, sent': of((row) => `${opcode(row)}&direction=out`),
    'transactionsByMessage by body': of(({ body }) => `body_hash=${body}`),
    'messages latest': () => '',
    'messages but those from outside': () => 'exclude_externals=true',
    'messages by hash': of(({ message }) => `msg_hash=${message}`),
    'messages from an account': of((row) => `source=0:${row.account}`),
    'messages to an account': of((row) => `destination=0:${row.account}`),
    'messages to the busiest account': () => `destination=0:${busiest?.account ?? ''}`,
    'messages by opcode': of(opcode),
    'messages by body': of(({ body }) => `body_hash=${body}`),
    'messages in an hour': of(hour),
    'traces latest': () => '',
    'traces latest, a page of 20': () => 'limit=20',
    'traces of an account': of(account),
    'traces of an account, a page of 20': of((row) => `${account(row)}&limit=20`),
    'traces of the busiest account in an hour': of((row) => `${busy}&${hour(row)}`),
    'traces by transaction': of(({ hash }) => `tx_hash=${hash}`),
    'traces by message': of(({ message }) => `msg_hash=${message}`),
    'traces by mc_seqno': of(({ mcSeqno }) => `mc_seqno=${mcSeqno}`),
    'addressBook of 10': (turn) =>
      rows
        .slice(turn % 200, (turn % 200) + 10)
        .map((row) => `address=0:${row.account}`)
        .join('&'),
    topAccountsByBalance: () => '',
  });
}

async function drawSamples(store: Store, transactions: number): Promise<readonly Sample[]> {
  const { hash, lt, utime, block } = generated;
  const row = `(abs(hashtextextended('sample', s)) % ${transactions - transactionsOfBlock})`;
  return store.read<Sample>(
    `SELECT encode(substr(t.account, 2), 'hex') AS account, ${hex(hash('t', 'n'))} AS hash, ${hex(hash('m', 'n'))} AS message,
       ${hex(hash('t', `n - n % ${transactionsOfTrace}`))} AS trace, m.opcode, ${hex('m.body_hash')} AS body, ${lt('n')} AS lt,
       ${utime('n')} AS utime, ${block('n')} AS "mcSeqno"
     FROM (SELECT ${row} AS n FROM generate_series(1, ${samples}) AS s) drawn
     JOIN transactions t ON t.hash = ${hash('t', 'n')} AND t.lt = ${lt('n')} JOIN messages m ON m.hash = ${hash('m', 'n')}`,
    [],
    { timeoutMs: 60_000 },
  );
}
