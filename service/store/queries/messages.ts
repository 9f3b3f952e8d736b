import { accountKey, type StoredAccount } from '../account-key.ts';
import { hashKey } from '../hash-key.ts';
import { messages, type MessageRow } from '../tables.ts';
import { anyKeyAt, columnsOf, createConditions, keyAt, keysAt, pageAt, pageOf, type Conditions } from './conditions.ts';
import { versionOfRules } from './blocks.ts';
import { everyLt, ltsOfTimes } from './lt-windows.ts';
import { addAfter, orderBy, orderFor, sortedBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes } from './times.ts';
import { MESSAGES_OF_TRANSACTION_MAX, type SortedPage } from './transactions.ts';

/** An account, or the side of a message that is outside the blockchain. */
export type MessageEnd = StoredAccount | 'null';

/** Filter of messages; all conditions apply. Windows are inclusive at both ends. */
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
  /** `in`: a transaction received it; `out`: a transaction sent it. */
  readonly direction?: 'in' | 'out' | undefined;
  /** Drops messages from outside. */
  readonly excludeExternals?: boolean;
  /** Drops all others. */
  readonly onlyExternals?: boolean;
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

/** A message with its transactions: the consumer or the producer has its content, both have its hash. */
export type FoundMessage = MessageRow & Holders;

type Holders = {
  readonly consumer_hash: Buffer | null;
  readonly consumer_boc: Buffer | null;
  readonly consumer_version: number | null;
  /**
   * Last transaction of the source before the message. It has sent the message; if `producer_boc` is present, it may have, and the cells
   * decide.
   */
  readonly producer_hash: Buffer | null;
  /** Null too if the consumer has the content and the producer is certain. The messages of a producer share the same buffer. */
  readonly producer_boc: Buffer | null;
  readonly producer_version: number | null;
};

/** The consumer's transaction: a message from outside may be accepted more than once, and each time is a row. */
export const taken = 't.in_msg_hash = m.hash AND t.lt >= m.lt AND (m.created_lt IS NOT NULL OR t.lt = m.lt)';

/** Transactions of the source: the last of them sent the message. */
export const near = `t.lt < m.created_lt AND t.lt >= m.created_lt - ${MESSAGES_OF_TRANSACTION_MAX}`;

/** Transactions of an alias with their blocks' version. */
const holders = `SELECT t.hash, t.lt, t.boc, ${versionOfRules} AS version FROM transactions t LEFT JOIN blocks b USING (workchain, shard, seqno)`;

/** Each block of a shard begins at a multiple of this lt. The lt is far above the span of a block (`get_lt_align` of the node). */
const LT_ALIGNMENT = 1_000_000n;

/** A block is indexed whole. The last transaction before a message, in the block of its lt, is the sender. */
const mayBeOther = `p.lt / ${LT_ALIGNMENT} <> m.created_lt / ${LT_ALIGNMENT}`;

/**
 * A producer may have hundreds of messages of a page and megabytes of cells: its cells come with the first message. The consumer of a
 * message to the outside is not searched. It does not exist, and the search visits each partition.
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

/** More rows than exist: with any limit a planner also considers plans with fast first rows. */
const noLimit = 2 ** 53;

/** Messages by creation, then hash. Messages from outside have no creation: `desc` begins with them (service/v3/README.md#order). */
export async function findMessages(
  store: StoreReader,
  filter: MessageListFilter,
  page: SortedPage & After,
): Promise<readonly MessageRow[]> {
  const hashes = await resolveHashes(store, filter.hashes);
  if (hashes?.length === 0) return [];
  // Partitions divide lts: partitions of other times are not even planned.
  const window = isByTime(filter) ? await ltsOfTimes(store, filter) : everyLt;
  const conditions = createConditions();
  addListFilter(conditions, filter);
  addTimes(conditions, 'm.created_at', filter, store);
  if (window.from > everyLt.from) conditions.when(window.from, (at) => `m.lt >= ${at}`);
  if (window.to < everyLt.to) conditions.when(window.to, (at) => `m.lt <= ${at}`);
  const columnsOfOrder = orderFor(messageOrder(filter, page), store);
  addAfter(conditions, columnsOfOrder, 'm', page.after);
  const sole = addFilter(conditions, { ...filter, hashes });
  // A message from outside may be accepted more than once, each time with a row: the first row is returned.
  const once = `DISTINCT ON (${columnsOfOrder.map((key) => sortedBy(key, 'm')).join(', ')})`;
  const order = `${orderBy(columnsOfOrder, 'm')}, m.lt`;
  const columns = columnsOf(messages, 'm');
  // Ordered inside. For DISTINCT itself Postgres 15 sorts all messages of an account, though sorting within the same time is enough.
  return store.read<MessageRow>(
    `SELECT ${once} ${columns} FROM (SELECT ${columns} FROM messages m ${conditions.where()} ${order} LIMIT ${noLimit}) m
     ${order} ${sole === undefined ? pageOf(page) : pageAt(conditions, page)}`,
    conditions.values,
    sole === undefined ? {} : { statement: `messages_of_${sole}_${page.sort}` },
  );
}

/** Consumers and producers of some messages. */
export async function readHolders(store: StoreReader, rows: readonly MessageRow[]): Promise<readonly FoundMessage[]> {
  if (rows.length === 0) return [];
  const keys = [
    ...(['hash', 'lt', 'source', 'created_lt'] as const).map((name) => rows.map((row) => row[name])),
    rows.map((row) => row.destination === null),
  ];
  const found = await store.read<HeldRow>(holdersOf, keys, { statement: 'message_holders' });
  const bocs = new Map(
    found.flatMap(({ producer_hash: hash, producer_boc: boc }) => (boc && hash ? [[hashKey(hash), boc]] : [])),
  );
  return found.map(({ needs_producer: isNeeded, ...one }, at) => {
    const boc = isNeeded && one.producer_hash ? bocs.get(hashKey(one.producer_hash)) : undefined;
    return { ...rows[at]!, ...one, producer_boc: boc ?? null };
  });
}

/** The first of a producer's rows that need its cells has them. */
type HeldRow = Holders & { readonly needs_producer: boolean | null };

/** Order of messages (service/v3/README.md#order). */
export function messageOrder(filter: MessageListFilter, { sort }: Pick<SortedPage, 'sort'>): Order {
  const created = isByTime(filter)
    ? ({ column: 'created_at', type: 'utime' } as const)
    : ({ column: 'created_lt', type: 'bigint' } as const);
  return [
    { ...created, sort, nullable: true },
    { column: 'hash', type: 'bytea', sort },
  ];
}

function isByTime({ startUtime, endUtime }: MessageListFilter): boolean {
  return (startUtime ?? endUtime) !== undefined;
}

/** Own hashes of the messages, because callers may name messages by normalized hashes. Undefined without requested hashes. */
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

/**
 * Filters that may be alone, if an index has the list of each value in order. The statement is then always the same, and connections cache
 * it.
 */
export type SoleFilter = 'hashes' | 'opcode' | 'body' | 'source' | 'destination';

/** Undefined with further conditions, or without any. @param others all other conditions */
export function soleOf(filter: MessageFilter, others: Conditions): SoleFilter | undefined {
  if (others.where() !== '') return undefined;
  const { hashes, opcode, bodyHash: body, source, destination } = filter;
  const given = Object.entries({ hashes, opcode, body, source, destination }).filter(
    ([, value]) => value !== undefined,
  );
  const [name, value] = given[0] ?? [];
  return given.length === 1 && value !== 'null' ? (name as SoleFilter) : undefined;
}

/** Conditions on a message itself; add them after all other conditions. @param filter hashes from `resolveHashes` */
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
  conditions.when(filter.startLt, (at) => `m.created_lt >= ${at}`);
  conditions.when(filter.endLt, (at) => `m.created_lt <= ${at}`);
  // With an offset the condition is checked row by row, in the order of the list. A join might read and sort both tables whole.
  const exists = (which: string): void =>
    conditions.and(`EXISTS (SELECT 1 FROM transactions t WHERE ${which} OFFSET 0)`);
  if (filter.direction === 'in') exists(taken);
  if (filter.direction === 'out') exists(`t.account = m.source AND ${near}`);
}
