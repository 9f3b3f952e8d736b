import { list, named, object, type Infer } from '#service/contract/shape.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import { findTransactionsByMessage, findTransactionsOfMessages } from '#service/store/queries/message-transactions.ts';
import type { After } from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import {
  findConsumers,
  findProducer,
  findTransactions,
  findTransactionsByHash,
  transactionOrder,
  findWholeTransactions,
  type FoundTransaction,
  type SortedPage,
  type TransactionFilter,
} from '#service/store/queries/transactions.ts';
import { addressBook, type AddressBooks } from '../annotations/address-book.ts';
import { readPage, type CursorValues } from '../request/cursor.ts';
import { notIndexed } from '../request/errors.ts';
import { isNewestPage } from '../request/newest-page.ts';
import { requireIndexed } from '../request/require-indexed.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { readAccount } from '../request/parameter-values.ts';
import {
  accounts,
  hash,
  hashes,
  int32,
  lt,
  masterchainSeqno,
  nullableAccount,
  opcode,
  cursorPaging,
  shard,
  windows,
  word,
} from '../request/parameters.ts';
import { required } from '../request/required-parameters.ts';
import { openTransaction } from '../rendering/assemble-transaction.ts';
import { STORED_FROM } from '../rendering/stored-transactions.ts';
import type { OpenedTransactions, TransactionRenderer } from '../rendering/transaction-renderer.ts';
import { transaction } from '../views/transaction-views.ts';

const transactionsResponse = named(
  'TransactionsResponse',
  object({ transactions: list(transaction), address_book: addressBook }),
);

type TransactionsResponse = Infer<typeof transactionsResponse>;

/** End of messages: received or sent. */
export const direction = word('direction', ['in', 'out'], 'direction should be one of: in, out');

export type TransactionOperationsDependencies = {
  readonly books: Pick<AddressBooks, 'bookOf'>;
  readonly writer: TransactionRenderer;
};

/** The operations about transactions (service/v3/README.md#chain-operations). */
export function transactionOperations({ books, writer }: TransactionOperationsDependencies): readonly V3Operation[] {
  const answer = async (opened: OpenedTransactions, context: V3Context): Promise<TransactionsResponse> => {
    const [written, book] = await Promise.all([opened.write(context.store), books.bookOf(opened.accounts, context)]);
    return { transactions: written.map(({ json }) => json), address_book: book };
  };

  return [
    defineV3Operation({
      name: 'transactions',
      tag: 'blockchain',
      summary: 'Transactions that match all filters.',
      parameters: {
        workchain: int32('workchain'),
        shard: shard('shard'),
        seqno: int32('seqno'),
        mcSeqno: int32('mc_seqno'),
        accounts: accounts('account'),
        excludedAccounts: accounts('exclude_account'),
        hashes: hashes('hash'),
        lt: lt('lt'),
        ...windows,
        ...cursorPaging,
      },
      failures: [404],
      result: transactionsResponse,
      flat: true,
      sameForBlock: isNewestPage,
      handle: async (values, context) => {
        if (values.mcSeqno !== undefined) await requireIndexed(context.store, values.mcSeqno);
        return answer(await openList(writer, values, values, context), context);
      },
    }),
    defineV3Operation({
      name: 'transactionsByMasterchainBlock',
      tag: 'blockchain',
      summary: 'Transactions of a masterchain block and of the shard blocks that it newly refers to.',
      parameters: { seqno: masterchainSeqno, ...cursorPaging },
      failures: [404],
      result: transactionsResponse,
      flat: true,
      handle: async ({ seqno: mcSeqno = 0, ...part }, context) => {
        await requireIndexed(context.store, mcSeqno);
        return answer(await openList(writer, { mcSeqno }, part, context), context);
      },
    }),
    byMessage(writer, answer),
    adjacent(writer, answer),
  ];
}

/** A page of the list of transactions. A page of few is read whole: that takes less than another query. */
async function openList(
  writer: TransactionRenderer,
  filter: TransactionFilter,
  part: SortedPage & CursorValues,
  context: V3Context,
): Promise<OpenedTransactions> {
  const { store } = context;
  const order = { list: 'transactions', order: transactionOrder(filter, part) };
  const page = <R extends object>(
    find: (store: StoreReader, filter: TransactionFilter, page: SortedPage & After) => Promise<readonly R[]>,
  ) => readPage(order, part, context, (after) => find(store, filter, { ...part, after }));
  const most = Math.min(part.limit, filter.hashes?.length || part.limit);
  return most < STORED_FROM
    ? writer.open(await page(findWholeTransactions), store)
    : writer.openAt(await page(findTransactions), store);
}

type Answer = (opened: OpenedTransactions, context: V3Context) => Promise<TransactionsResponse>;

function byMessage(writer: TransactionRenderer, answer: Answer): V3Operation {
  return defineV3Operation({
    name: 'transactionsByMessage',
    tag: 'blockchain',
    summary: 'Transactions that took or sent messages.',
    parameters: {
      hashes: hashes('msg_hash'),
      bodyHash: hash('body_hash'),
      opcode: opcode('opcode'),
      direction,
      source: nullableAccount('source'),
      destination: nullableAccount('destination'),
      ...cursorPaging,
    },
    rule: {
      schema: {},
      check: ({ hashes: given, bodyHash, opcode: operation }) =>
        given.length > 0 || bodyHash !== undefined || operation !== undefined
          ? undefined
          : 'at least one of msg_hash, body_hash, opcode should be specified',
    },
    result: transactionsResponse,
    flat: true,
    handle: async ({ direction: end, ...values }, context) => {
      // With an opcode, default to the transactions that executed the message.
      const ends = end ?? (values.opcode === undefined ? 'both' : 'in');
      const order = { list: 'transactionsByMessage', order: transactionOrder({}, values) };
      // Few messages and nothing else: their few transactions are read whole, in one query.
      const { length: count } = values.hashes;
      const isPlain = end === undefined && isNewestPage({ ...values, hashes: [], sort: 'desc' });
      if (isPlain && count > 0 && count < STORED_FROM) {
        const rows = await readPage(order, values, context, () =>
          findTransactionsOfMessages(context.store, values.hashes, values),
        );
        return answer(await writer.open(rows, context.store), context);
      }
      const places = await readPage(order, values, context, (after) =>
        findTransactionsByMessage(context.store, values, ends, { ...values, after }),
      );
      return answer(await writer.openAt(places, context.store), context);
    },
  });
}

function adjacent(writer: TransactionRenderer, answer: Answer): V3Operation {
  return defineV3Operation({
    name: 'adjacentTransactions',
    tag: 'blockchain',
    summary: 'The transaction that caused a transaction, and the transactions that it caused.',
    parameters: { hash: required(hash('hash'), 'hash is required'), direction },
    failures: [404],
    result: transactionsResponse,
    flat: true,
    handle: async ({ hash: given, direction: end }, context) => {
      const rows = await findAdjacent(context.store, given, end);
      if (rows.length === 0) throw notIndexed('adjacent transactions not found');
      return answer(await writer.open(rows, context.store), context);
    },
  });
}

/** The causes first: they are older. */
async function findAdjacent(
  store: StoreReader,
  given: Buffer,
  end: 'in' | 'out' | undefined,
): Promise<readonly FoundTransaction[]> {
  const [row] = await findTransactionsByHash(store, [given]);
  if (row === undefined) return [];
  const { table, transaction: read } = openTransaction(row);
  const { inMessage, outMessages } = read;
  const internal = outMessages.filter(({ info }) => info.kind === 'internal').map(({ cell }) => table.hash(cell));
  const [causes, effects] = await Promise.all([
    end === 'out' || inMessage === undefined ? [] : findSenders(store, table.hash(inMessage.cell), inMessage),
    end === 'in' || internal.length === 0 ? [] : findConsumers(store, internal),
  ]);
  return [...causes, ...effects];
}

/** The transaction that sent a message; empty for a message from outside, and for a sender outside of the index. */
async function findSenders(
  store: StoreReader,
  messageHash: Buffer,
  { info }: Message,
): Promise<readonly FoundTransaction[]> {
  const source = info.kind === 'internal' ? readAccount(addressText(info.source)) : undefined;
  if (info.kind !== 'internal' || source === undefined) return [];
  const rows = await findProducer(store, source, info.createdLt);
  return rows.filter((row) => {
    const { table, transaction: read } = openTransaction(row);
    return read.outMessages.some(({ cell }) => table.hash(cell).equals(messageHash));
  });
}
