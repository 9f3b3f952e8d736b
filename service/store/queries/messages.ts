import { accountKey, type StoredAccount } from '../account-key.ts';
import { hashKey } from '../hash-key.ts';
import { messages, type MessageRow } from '../tables.ts';
import { anyKeyAt, columnsOf, createConditions, keyAt, keysAt, pageAt, pageOf, type Conditions } from './conditions.ts';
import { versionOfRules } from './blocks.ts';
import { everyLt, ltsOfTimes } from './lt-windows.ts';
import { addAfter, orderBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { messagesOfTransactionMax, type SortedPage } from './transactions.ts';

/** An account, or the side of a message that is outside the blockchain. */
export type MessageEnd = StoredAccount | 'null';

/** What messages must be; all of it. Windows are inclusive at both ends. */
export type MessageFilter = {
  /** Their own or their normalized hash is any of these; empty for all. */
  readonly hashes?: readonly Uint8Array[] | undefined;
  readonly bodyHash?: Uint8Array | undefined;
  /** Signed 32 bits. */
  readonly opcode?: number | undefined;
  readonly source?: MessageEnd | undefined;
  readonly destination?: MessageEnd | undefined;
};

export type MessageListFilter = MessageFilter & {
  /** `in`: a transaction took it; `out`: a transaction sent it. */
  readonly direction?: 'in' | 'out' | undefined;
  /** Drops those from outside. */
  readonly excludeExternals?: boolean;
  /** Drops all others. */
  readonly onlyExternals?: boolean;
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

/** A message with the transactions that hold it: one has its content, both have its hash. */
export type FoundMessage = MessageRow & Holders;

type Holders = {
  readonly consumer_hash: Buffer | null;
  readonly consumer_boc: Buffer | null;
  readonly consumer_version: number | null;
  /** Has sent it, or may have where `producer_boc` is there to tell: the last transaction of the source before it. */
  readonly producer_hash: Buffer | null;
  /** Null too where the consumer has the content and the producer has sent it for sure; one and the same for all messages of a producer. */
  readonly producer_boc: Buffer | null;
  readonly producer_version: number | null;
};

/** The consumer's transaction: a message from outside may be accepted more than once, and each time is a row. */
export const taken = 't.in_msg_hash = m.hash AND t.lt >= m.lt AND (m.created_lt IS NOT NULL OR t.lt = m.lt)';

/** Transactions of the source among which its last one has sent the message. */
export const near = `t.lt < m.created_lt AND t.lt >= m.created_lt - ${messagesOfTransactionMax}`;

/** Transactions of one alias with their blocks' version. */
const holders = `SELECT t.hash, t.lt, t.boc, ${versionOfRules} AS version FROM transactions t LEFT JOIN blocks b USING (workchain, shard, seqno)`;

/** Each block of a shard begins at a multiple of this, far above what the one before may span (`get_lt_align` of the node). */
const ltAlignment = 1_000_000n;

/** A block is indexed whole: the last transaction before a message, in the block in which it was sent, has sent it. */
const mayBeOther = `p.lt / ${ltAlignment} <> m.created_lt / ${ltAlignment}`;

/**
 * A producer may hold hundreds of messages of a page, and be of megabytes: its cells come with the first of them. What went outside is not looked for: nobody takes it,
 * and each partition would be asked.
 */
const holdersOf = `SELECT h.place, h.consumer_hash, h.consumer_boc, h.consumer_version, h.producer_hash, h.producer_version, h.needs_producer,
    CASE WHEN h.needs_producer AND row_number() OVER (PARTITION BY h.producer_hash, h.needs_producer ORDER BY h.place) = 1 THEN h.boc END AS producer_boc
  FROM (SELECT m.place, c.hash AS consumer_hash, c.boc AS consumer_boc, c.version AS consumer_version, p.hash AS producer_hash,
      p.version AS producer_version, p.boc, c.hash IS NULL OR ${mayBeOther} AS needs_producer
    FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}, ${keysAt('$3')}, ${keysAt('$4', 'bigint')}, ${keysAt('$5', 'boolean')})
      WITH ORDINALITY AS m (hash, lt, source, created_lt, is_for_outside, place)
    LEFT JOIN LATERAL (${holders} WHERE NOT m.is_for_outside AND ${taken} LIMIT 1) c ON true
    LEFT JOIN LATERAL (${holders} WHERE t.account = m.source AND ${near} ORDER BY t.lt DESC LIMIT 1) p ON true) h
  ORDER BY h.place`;

/** More than there are: with a limit of any size a planner also looks for what gives its first rows soon. */
const noLimit = 2 ** 53;

/** Messages by creation, then hash. Messages from outside have no creation: `desc` begins with them (service/v3/README.md#order). */
export async function findMessages(
  store: StoreReader,
  filter: MessageListFilter,
  page: SortedPage & After,
): Promise<readonly MessageRow[]> {
  const hashes = await resolveHashes(store, filter.hashes);
  if (hashes?.length === 0) return [];
  // Lts are what partitions are of: those of other times are not even planned for.
  const window = isByTime(filter) ? await ltsOfTimes(store, filter) : everyLt;
  const conditions = createConditions();
  addListFilter(conditions, filter);
  if (window.from > everyLt.from) conditions.when(window.from, (at) => `m.lt >= ${at}`);
  if (window.to < everyLt.to) conditions.when(window.to, (at) => `m.lt <= ${at}`);
  const columnsOfOrder = messageOrder(filter, page);
  addAfter(conditions, columnsOfOrder, 'm', page.after);
  const sole = addFilter(conditions, { ...filter, hashes });
  // A message from outside may be accepted more than once, and each time is a row beside the others: the first one is told.
  const once = `DISTINCT ON (${columnsOfOrder.map(({ column }) => `m.${column}`).join(', ')})`;
  const order = `${orderBy(columnsOfOrder, 'm')}, m.lt`;
  const columns = columnsOf(messages, 'm');
  // Ordered within: for DISTINCT itself Postgres 15 sorts all messages of an account, where those of one time are enough.
  return store.read<MessageRow>(
    `SELECT ${once} ${columns} FROM (SELECT ${columns} FROM messages m ${conditions.where()} ${order} LIMIT ${noLimit}) m
     ${order} ${sole === undefined ? pageOf(page) : pageAt(conditions, page)}`,
    conditions.values,
    sole === undefined ? {} : { statement: `messages_of_${sole}_${page.sort}` },
  );
}

/** Who took and who sent each of some messages. */
export async function readHolders(store: StoreReader, rows: readonly MessageRow[]): Promise<readonly FoundMessage[]> {
  if (rows.length === 0) return [];
  const keys = [
    ...(['hash', 'lt', 'source', 'created_lt'] as const).map((name) => rows.map((row) => row[name])),
    rows.map((row) => row.destination === null),
  ];
  const held = await store.read<HeldRow>(holdersOf, keys, { statement: 'message_holders' });
  const bocs = new Map(
    held.flatMap(({ producer_hash: hash, producer_boc: boc }) => (boc && hash ? [[hashKey(hash), boc]] : [])),
  );
  return held.map(({ needs_producer: isNeeded, ...one }, at) => {
    const boc = isNeeded && one.producer_hash ? bocs.get(hashKey(one.producer_hash)) : undefined;
    return { ...rows[at]!, ...one, producer_boc: boc ?? null };
  });
}

/** The producer's cells stand in the first of its rows that needs them. */
type HeldRow = Holders & { readonly needs_producer: boolean | null };

/** Order of messages (service/v3/README.md#order). */
export function messageOrder(filter: MessageListFilter, { sort }: Pick<SortedPage, 'sort'>): Order {
  const created = isByTime(filter)
    ? ({ column: 'created_at', type: 'integer' } as const)
    : ({ column: 'created_lt', type: 'bigint' } as const);
  return [
    { ...created, sort, nullable: true },
    { column: 'hash', type: 'bytea', sort },
  ];
}

function isByTime({ startUtime, endUtime }: MessageListFilter): boolean {
  return (startUtime ?? endUtime) !== undefined;
}

/** The messages' own hashes, where a caller may have named them by their normalized ones; undefined when no hash was asked for. */
export async function resolveHashes(
  store: StoreReader,
  given: readonly Uint8Array[] | undefined,
): Promise<readonly Buffer[] | undefined> {
  if (given === undefined || given.length === 0) return undefined;
  const rows = await store.read<{ hash: Buffer }>(
    `SELECT hash FROM messages WHERE hash = ${anyKeyAt('$1')} UNION SELECT hash FROM messages WHERE hash_norm = ${anyKeyAt('$1')}`,
    [given],
    { statement: 'message_hashes' },
  );
  return rows.map(({ hash }) => hash);
}

/** What alone is asked by, where one index has the list of each value in its order: then the statement is always the same, and connections keep it. */
export type SoleFilter = 'hashes' | 'opcode' | 'body' | 'source' | 'destination';

/** Undefined when more is asked by, or nothing. @param others all other conditions */
export function soleOf(filter: MessageFilter, others: Conditions): SoleFilter | undefined {
  if (others.where() !== '') return undefined;
  const { hashes, opcode, bodyHash: body, source, destination } = filter;
  const given = Object.entries({ hashes, opcode, body, source, destination }).filter(
    ([, value]) => value !== undefined,
  );
  const [name, value] = given[0] ?? [];
  return given.length === 1 && value !== 'null' ? (name as SoleFilter) : undefined;
}

/** What a message itself must be; to be added behind all other conditions. @param filter hashes as `resolveHashes` gives them */
export function addFilter(conditions: Conditions, filter: MessageFilter): SoleFilter | undefined {
  const sole = soleOf(filter, conditions);
  const key = (at: string, type?: string): string => (sole === undefined ? at : keyAt(at, type));
  conditions.when(filter.bodyHash, (at) => `m.body_hash = ${key(at)}`);
  conditions.when(filter.opcode, (at) => `m.opcode = ${key(at, 'integer')}`);
  const { source, destination } = filter;
  // A message without a source is from outside, and has no lt: the order's own index finds it.
  if (source === 'null') conditions.and('m.created_lt IS NULL');
  else conditions.when(source && accountKey(source), (at) => `m.source = ${key(at)}`);
  if (destination === 'null') conditions.and('m.destination IS NULL');
  else conditions.when(destination && accountKey(destination), (at) => `m.destination = ${key(at)}`);
  conditions.when(filter.hashes, (at) => `m.hash = ${anyKeyAt(at)}`);
  return sole;
}

function addListFilter(conditions: Conditions, filter: MessageListFilter): void {
  const column = isByTime(filter) ? 'm.created_at' : 'm.created_lt';
  if (filter.excludeExternals === true) conditions.and(`${column} IS NOT NULL`);
  if (filter.onlyExternals === true) conditions.and(`${column} IS NULL`);
  conditions.when(filter.startUtime, (at) => `m.created_at >= ${at}::bigint`);
  conditions.when(filter.endUtime, (at) => `m.created_at <= ${at}::bigint`);
  conditions.when(filter.startLt, (at) => `m.created_lt >= ${at}`);
  conditions.when(filter.endLt, (at) => `m.created_lt <= ${at}`);
  // With an offset it is asked row by row, in the order of the list: joined, both tables might be read whole to be sorted.
  const exists = (which: string): void =>
    conditions.and(`EXISTS (SELECT 1 FROM transactions t WHERE ${which} OFFSET 0)`);
  if (filter.direction === 'in') exists(taken);
  if (filter.direction === 'out') exists(`t.account = m.source AND ${near}`);
}
