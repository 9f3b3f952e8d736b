import { accountKey } from '../account-key.ts';
import { hashKey } from '../hash-key.ts';
import { anyKeyAt, createConditions, keyAt, keysAt, pageAt, pageOf, type Conditions } from './conditions.ts';
import { everyLt } from './lt-windows.ts';
import { addFilter, near, resolveHashes, soleOf, taken, type MessageFilter, type SoleFilter } from './messages.ts';
import { addAfter, orderBy, positionOf, type After, type Order, type Position } from './order.ts';
import type { StoreReader } from './reader.ts';
import {
  MESSAGES_OF_TRANSACTION_MAX,
  placeColumns,
  transactionColumns,
  transactionOrder,
  withVersion,
  type FoundTransaction,
  type SortedPage,
  type TransactionPlace,
} from './transactions.ts';

/** Positions per query, of some 200 bytes each: as many as the longest page. */
const PLACES_AT_ONCE = 1000;

/** Positions of transactions that received or sent messages, each once, by lt and account. `readTransactionsAt` reads the transactions. */
export async function findTransactionsByMessage(
  store: StoreReader,
  filter: MessageFilter,
  direction: 'in' | 'out' | 'both',
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const hashes = await resolveHashes(store, filter.hashes);
  if (hashes?.length === 0) return [];
  const asked = { ...filter, hashes };
  // Receiving transactions alone come in the order of the list: Postgres skips the rows before the page.
  if (direction === 'in') return findTakers(store, asked, page);
  let { offset, after } = page;
  for (;;) {
    const wanted = offset + page.limit;
    const isLast = offset === 0 || wanted <= PLACES_AT_ONCE;
    const limit = isLast ? wanted : Math.min(offset, PLACES_AT_ONCE);
    const places = await findFirst(store, asked, direction, { ...page, limit, offset: 0, after });
    if (isLast || places.length < limit) return places.slice(offset);
    offset -= limit;
    after = positionOf(transactionOrder({}, page), places.at(-1)!);
  }
}

/**
 * The first transactions that took or sent messages, with their content, in one query. Gives the same as `findTransactionsByMessage` without
 * another filter. @param hashes few, raw or normalized
 */
export function findTransactionsOfMessages(
  store: StoreReader,
  hashes: readonly Uint8Array[],
  { sort, limit }: Pick<SortedPage, 'sort' | 'limit'>,
): Promise<readonly FoundTransaction[]> {
  const named = ['hash', 'hash_norm'].map(
    (column) => `SELECT hash, lt, source, created_lt FROM messages WHERE ${column} = ${anyKeyAt('$1')}`,
  );
  const sender = `SELECT ${transactionColumns} FROM transactions t WHERE t.account = m.source AND ${near} ORDER BY t.lt DESC LIMIT 1`;
  const order = orderBy(transactionOrder({}, { sort }), 't');
  const inner = `WITH m AS MATERIALIZED (${named.join(' UNION ')})
    SELECT ${transactionColumns} FROM (
      SELECT ${transactionColumns} FROM m JOIN transactions t ON ${taken}
      UNION SELECT t.* FROM m CROSS JOIN LATERAL (${sender}) t) t ${order} LIMIT ${keyAt('$2', 'bigint')}`;
  const statement = `transactions_of_messages_${sort}`;
  return store.read(withVersion(inner, order), [hashes, limit], { statement });
}

/** The first of a list. */
async function findFirst(
  store: StoreReader,
  filter: MessageFilter,
  direction: 'out' | 'both',
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const [takers, senders] = await Promise.all([
    direction === 'out' ? [] : findTakers(store, filter, page),
    findSenders(store, filter, page),
  ]);
  return inOrder([...takers, ...senders], page.sort).slice(0, page.limit);
}

/** Each once, in the order of the list. */
function inOrder(places: readonly TransactionPlace[], sort: SortedPage['sort']): TransactionPlace[] {
  const once = [...new Map(places.map((place) => [hashKey(place.hash), place])).values()];
  return once.toSorted((one, other) => compare(one, other, sort));
}

type Placed = Pick<TransactionPlace, 'lt' | 'account'>;

/** Below 0 for a place before the other in the order of the list. */
function compare(one: Placed, other: Placed, sort: SortedPage['sort']): number {
  const sign = sort === 'asc' ? 1 : -1;
  if (one.lt === other.lt) return Buffer.compare(one.account, other.account);
  return one.lt < other.lt ? -sign : sign;
}

/** A place in the order of `transactionOrder`. */
function placeOf(after: Position | undefined): Placed | undefined {
  if (after === undefined) return undefined;
  const [lt, account] = after;
  return { lt: lt as bigint, account: account as Buffer };
}

/**
 * The first transactions that received such messages. The receiver's row has the message's filter columns too, in the order of the list.
 */
async function findTakers(
  store: StoreReader,
  filter: MessageFilter,
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const { hashes, source, destination, opcode, bodyHash } = filter;
  // An account never receives a message to the outside.
  if (destination === 'null') return [];
  const conditions = createConditions();
  const columnsOfOrder = transactionOrder({}, page);
  addAfter(conditions, columnsOfOrder, 't', page.after);
  const order = orderBy(columnsOfOrder, 't');
  if (hashes === undefined && source === undefined) {
    const sole = soleOf(filter, conditions);
    const key = (at: string, type?: string): string => (sole === undefined ? at : keyAt(at, type));
    conditions.and('t.in_msg_hash IS NOT NULL');
    conditions.when(opcode, (at) => `t.in_opcode = ${key(at, 'integer')}`);
    conditions.when(bodyHash, (at) => `t.in_body_hash = ${key(at)}`);
    conditions.when(destination && accountKey(destination), (at) => `t.account = ${key(at)}`);
    return readTakers(store, 'transactions t', { conditions, order, page, sole });
  }
  const sole = addFilter(conditions, filter);
  // Messages of a source are in the order of sending.
  const soleHash = sole === 'hashes' ? sole : undefined;
  return readTakers(store, `messages m JOIN transactions t ON ${taken}`, { conditions, order, page, sole: soleHash });
}

type TakersList = {
  readonly conditions: Conditions;
  readonly order: string;
  readonly page: SortedPage;
  readonly sole: SoleFilter | undefined;
};

function readTakers(
  store: StoreReader,
  from: string,
  { conditions, order, page, sole }: TakersList,
): Promise<readonly TransactionPlace[]> {
  const part = sole === undefined ? pageOf(page) : pageAt(conditions, page);
  return store.read<TransactionPlace>(
    `SELECT ${placeColumns} FROM ${from} ${conditions.where()} ${order} ${part}`,
    conditions.values,
    sole === undefined ? {} : { statement: `takers_of_${sole}_${page.sort}` },
  );
}

/** Key of a message's sender, and the message's own hash. */
type Sent = { readonly source: Buffer; readonly created_lt: bigint; readonly hash: Buffer };

/** Indexed senders. */
const sendersOf = `SELECT ${placeColumns}
  FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS m (source, created_lt)
  CROSS JOIN LATERAL (SELECT ${placeColumns} FROM transactions t WHERE t.account = m.source AND ${near} ORDER BY t.lt DESC LIMIT 1) t`;

/** Senders after the start of the list, in no order. */
async function findSendersOf(
  store: StoreReader,
  sent: readonly Sent[],
  { sort, after }: Pick<SortedPage & After, 'sort' | 'after'>,
): Promise<readonly TransactionPlace[]> {
  if (sent.length === 0) return [];
  const keys = [sent.map((one) => one.source), sent.map((one) => one.created_lt)];
  const found = await store.read<TransactionPlace>(sendersOf, keys, { statement: 'senders' });
  const begin = placeOf(after);
  return begin === undefined ? found : found.filter((one) => compare(one, begin, sort) > 0);
}

/** First number of messages per wanted sender: most senders have one or two messages of a kind. */
const MESSAGES_OF_SENDER = 2;

/** Most messages per query, for senders of many messages: some 200 bytes each. */
const MESSAGES_AT_ONCE = 2000;

/**
 * The first transactions that sent such messages. Messages come in order of lt, which exceeds their sender's lt by less than
 * `MESSAGES_OF_TRANSACTION_MAX`. Once enough senders are known, no unknown sender can come before them.
 */
async function findSenders(
  store: StoreReader,
  filter: MessageFilter,
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  let senders: readonly TransactionPlace[] = [];
  let last: Sent | undefined;
  for (let count = MESSAGES_OF_SENDER * page.limit; ; count *= 4) {
    const limit = Math.min(count, MESSAGES_AT_ONCE);
    const sent = await readSent(store, filter, { ...page, limit }, last);
    senders = inOrder([...senders, ...(await findSendersOf(store, sent, page))], page.sort);
    last = sent.at(-1);
    if (last === undefined || sent.length < limit) return senders;
    const { created_lt: reached } = last;
    const isSure = ({ lt }: Placed): boolean =>
      page.sort === 'desc' ? lt >= reached : lt < reached - MESSAGES_OF_TRANSACTION_MAX;
    const sure = senders.filter(isSure);
    if (sure.length >= page.limit) return sure;
  }
}

/** Messages whose senders can be after the start of the page, by lt and hash. @param last message that was read last */
function readSent(
  store: StoreReader,
  filter: MessageFilter,
  { limit, sort, after }: Omit<SortedPage & After, 'offset'>,
  last: Sent | undefined,
): Promise<readonly Sent[]> {
  const conditions = createConditions();
  const order: Order = [
    { column: 'created_lt', type: 'bigint', sort },
    { column: 'hash', type: 'bytea', sort },
  ];
  addAfter(conditions, order, 'm', last && positionOf(order, last));
  const begin = last === undefined ? placeOf(after)?.lt : undefined;
  // A sender after the start sent its message shortly before or after the start.
  if (sort === 'asc') conditions.when(begin, (at) => `m.created_lt >= ${at}`);
  else if (begin !== undefined && begin <= everyLt.to - MESSAGES_OF_TRANSACTION_MAX)
    conditions.when(begin + MESSAGES_OF_TRANSACTION_MAX, (at) => `m.created_lt <= ${at}`);
  const sole = addFilter(conditions, filter);
  conditions.and('m.created_lt IS NOT NULL');
  const limitAt = conditions.place(limit);
  return store.read<Sent>(
    `SELECT m.source, m.created_lt, m.hash FROM messages m ${conditions.where()} ${orderBy(order, 'm')}
      LIMIT ${sole === undefined ? limitAt : keyAt(limitAt, 'bigint')}`,
    conditions.values,
    sole === undefined ? {} : { statement: `sent_of_${sole}_${sort}` },
  );
}
