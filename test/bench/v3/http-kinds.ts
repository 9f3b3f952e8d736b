import { createHash } from 'node:crypto';

import { firstLt, ltsOfTransaction, transactionsOfBlock } from './generated-index.ts';
import type { Kind } from './mixes.ts';

/** Path of a request of a kind, by its number among them. */
type PathOf = (turn: number, index: Drawn) => string;

/** Transactions of the generated index. */
type Drawn = { readonly transactions: number };

/** The same numbers in each run. */
function drawn(turn: number, below: number): number {
  return createHash('sha256').update(`draw ${turn}`).digest().readUInt32BE() % below;
}

const ltOf = (place: number): bigint => firstLt + BigInt(place) * ltsOfTransaction;

/** Accounts with some hundred transactions and more. */
const BUSY_ACCOUNTS = 100;

function accountAt(place: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(place));
  return `0:${createHash('sha256').update(bytes).digest('hex')}`;
}

const messageAt = (place: number): string => createHash('sha256').update(`m${place}`).digest('hex');

/** Requests for other transactions each time: no cache has them. */
const drawnKinds: Readonly<Record<string, PathOf>> = {
  '10 drawn transactions': (turn, { transactions }) =>
    `transactions?limit=10&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 10))}`,
  '100 drawn transactions': (turn, { transactions }) =>
    `transactions?limit=100&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 100))}`,
  '100 transactions of a drawn block': (turn, { transactions }) =>
    `transactionsByMasterchainBlock?limit=100&seqno=${1 + drawn(turn, Math.floor(transactions / transactionsOfBlock))}`,
  '100 drawn transactions of an account': (turn, { transactions }) =>
    `transactions?limit=100&sort=asc&account=${accountAt(1 + (turn % BUSY_ACCOUNTS))}&start_lt=${ltOf(drawn(turn, Math.floor(transactions * 0.8)))}`,
  'transaction of a drawn message': (turn, { transactions }) =>
    `transactionsByMessage?msg_hash=${messageAt(drawn(turn, transactions))}`,
  '20 drawn messages': (turn, { transactions }) =>
    `messages?limit=20&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 20))}`,
  '20 drawn traces': (turn, { transactions }) =>
    `traces?limit=20&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 200))}`,
};

/** Requests that are made each time come first: their code is then compiled for the others in every version. */
const kinds: Readonly<Record<string, string | PathOf>> = {
  ...drawnKinds,
  '20 transactions of an asked workchain': 'transactions?limit=20&workchain=0',
  '20 messages': 'messages?limit=20',
  masterchainInfo: 'masterchainInfo',
  '20 blocks': 'blocks?limit=20',
  '20 accounts by balance': 'topAccountsByBalance?limit=20',
  '10 transactions': 'transactions?limit=10',
  '20 transactions': 'transactions?limit=20',
  '100 transactions': 'transactions?limit=100',
  '20 actions': 'actions?limit=20',
  '20 traces': 'traces?limit=20',
};

/** Kinds that are measured through the listener. */
export function httpKinds(index: Drawn): readonly Kind[] {
  return Object.entries(kinds).map(([name, given]) => ({
    name,
    path: typeof given === 'string' ? () => given : (turn) => given(turn, index),
  }));
}
