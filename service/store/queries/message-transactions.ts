import { accountKey } from '../account-key.ts';
import { hashKey } from '../hash-key.ts';
import { createConditions, keyAt, keysAt, pageAt, pageOf, type Conditions } from './conditions.ts';
import { addFilter, near, resolveHashes, soleOf, taken, type MessageFilter, type SoleFilter } from './messages.ts';
import { addAfter, orderBy, type After, type Position } from './order.ts';
import type { StoreReader } from './reader.ts';
import {
  messagesOfTransactionMax,
  placeColumns,
  transactionOrder,
  type SortedPage,
  type TransactionPlace,
} from './transactions.ts';

/** Where transactions that took or sent messages are, each once, by lt and account: `readTransactionsAt` reads them. */
export async function findTransactionsByMessage(
  store: StoreReader,
  filter: MessageFilter,
  direction: 'in' | 'out' | 'both',
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const hashes = await resolveHashes(store, filter.hashes);
  if (hashes?.length === 0) return [];
  const wanted = page.offset + page.limit;
  const [asked, first] = [
    { ...filter, hashes },
    { ...page, limit: wanted, offset: 0 },
  ];
  const [takers, senders] = await Promise.all([
    direction === 'out' ? [] : findTakers(store, asked, first),
    direction === 'in' ? [] : findSenders(store, asked, first),
  ]);
  return inOrder([...takers, ...senders], page.sort).slice(page.offset, wanted);
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

/** The first that took such messages. What is asked of a message alone stands in its taker's row too, in the order of the list. */
async function findTakers(
  store: StoreReader,
  filter: MessageFilter,
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const { hashes, source, destination, opcode, bodyHash } = filter;
  // What an account takes is never meant for outside.
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
  // Those of a source are in the order in which they were sent.
  const kept = sole === 'hashes' ? sole : undefined;
  return readTakers(store, `messages m JOIN transactions t ON ${taken}`, { conditions, order, page, sole: kept });
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

/** What the sender of a message is found by. */
type Sent = { readonly source: Buffer; readonly created_lt: bigint };

/** The senders that are indexed. */
const sendersOf = `SELECT ${placeColumns}
  FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS m (source, created_lt)
  CROSS JOIN LATERAL (SELECT ${placeColumns} FROM transactions t WHERE t.account = m.source AND ${near} ORDER BY t.lt DESC LIMIT 1) t`;

/** Each once, in the order of the list, and behind the place where it begins. */
async function findSendersOf(
  store: StoreReader,
  sent: readonly Sent[],
  { sort, after }: Pick<SortedPage & After, 'sort' | 'after'>,
): Promise<readonly TransactionPlace[]> {
  if (sent.length === 0) return [];
  const keys = [sent.map((one) => one.source), sent.map((one) => one.created_lt)];
  const found = await store.read<TransactionPlace>(sendersOf, keys, { statement: 'senders' });
  const begin = placeOf(after);
  return inOrder(
    found.filter((one) => begin === undefined || compare(one, begin, sort) > 0),
    sort,
  );
}

/** Messages looked at for each sender that is wanted, at first: most send one or two of a kind. */
const messagesOfSender = 2;

/**
 * The first that sent such messages. Messages come by their lt, which follows their sender's by less than `messagesOfTransactionMax`: once enough
 * senders are known, none of those that are not can come before them.
 */
async function findSenders(
  store: StoreReader,
  filter: MessageFilter,
  page: SortedPage & After,
): Promise<readonly TransactionPlace[]> {
  const conditions = createConditions();
  const after = placeOf(page.after);
  // A sender behind the place has sent what it did not long before or after that.
  if (page.sort === 'desc')
    conditions.when(after?.lt, (at) => `m.created_lt <= ${at}::bigint + ${messagesOfTransactionMax}`);
  else conditions.when(after?.lt, (at) => `m.created_lt >= ${at}::bigint`);
  const sole = addFilter(conditions, filter);
  conditions.and('m.created_lt IS NOT NULL');
  const { values } = conditions;
  const limit = `$${values.length + 1}`;
  const sql = `SELECT m.source, m.created_lt FROM messages m ${conditions.where()} ORDER BY m.created_lt ${page.sort}
    LIMIT ${sole === undefined ? limit : keyAt(limit, 'bigint')}`;
  const kept = sole === undefined ? {} : { statement: `sent_of_${sole}_${page.sort}` };
  for (let count = messagesOfSender * page.limit; ; count *= 4) {
    const sent = await store.read<Sent>(sql, [...values, count], kept);
    const senders = await findSendersOf(store, sent, page);
    if (sent.length < count) return senders;
    const last = sent.at(-1)!.created_lt;
    const sure = senders.filter(({ lt }) => (page.sort === 'desc' ? lt >= last : lt < last - messagesOfTransactionMax));
    if (sure.length >= page.limit) return sure;
  }
}
