import type { RenderedTransaction } from '../views/trace-tree.ts';
import { RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { createUtf8Buffer, type Utf8Buffer } from '#service/runtime/utf8-buffer.ts';
import { createBagReader } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import {
  readTransactionsAt,
  type FoundTransaction,
  type TransactionPlace,
} from '#service/store/queries/transactions.ts';
import { V3Error } from '../request/errors.ts';
import type { CacheOutcome } from '../metrics.ts';
import type { CachedJson } from '#service/runtime/json-cache.ts';
import type { PackedCache } from './packed-cache.ts';
import type { StoredTransactions, TransactionNames } from './stored-transactions.ts';
import { viewBytes } from '../request/scalars.ts';
import {
  assembleTransaction,
  indexedMarks,
  openTransaction,
  readStates,
  type NewlyRendered,
} from './assemble-transaction.ts';
import { renderPartial, type PartialTransactionJson } from './transaction-json.ts';
import { withStateBefore } from '../views/state-before.ts';
import type { TransactionTail } from '../views/transaction-views.ts';

/** Renders indexed transactions; recently requested transactions are cached. */
export type TransactionRenderer = {
  /**
   * @param messagesBeside messages of other transactions in the answer; default none
   * @throws V3Error 422 for too many messages, ContractError 422 for too many bytes
   */
  open(rows: readonly FoundTransaction[], reader: StoreReader, messagesBeside?: number): Promise<OpenedTransactions>;
  /** Same as `open`: cached and stored transactions need no read. */
  openAt(places: readonly TransactionPlace[], reader: StoreReader): Promise<OpenedTransactions>;
};

/** Indexed transactions ready for rendering, in the given order. */
export type OpenedTransactions = {
  /** Accounts of the transactions and both ends of their messages, same as `addressesOf` of rendered transactions. */
  readonly accounts: readonly string[];
  write(reader: StoreReader): Promise<readonly NewlyRendered[]>;
};

/** Messages in an answer, some 45 MB of JSON: a page of 100 transactions with the most messages. */
const MESSAGES_MAX = 30_000;

/** Earlier renderings of a transaction that is cached. */
const MADE_BEFORE = 1;

/** The same for a transaction of a stored trace, which costs less to find again than to pack. */
const CUT_BEFORE = 3;

export type TransactionRendererDependencies = {
  /** Absent, no transaction is cached. */
  readonly cache?: PackedCache<TransactionNames> | undefined;
  /** Absent, transactions that are not cached are rendered. */
  readonly stored?: StoredTransactions | undefined;
  /** Called for each look-up. */
  readonly counted?: ((outcome: CacheOutcome, transactions: number) => void) | undefined;
};

export function createTransactionRenderer({
  cache,
  stored,
  counted,
}: TransactionRendererDependencies): TransactionRenderer {
  return {
    open: async (rows, reader, messagesBeside = 0) =>
      openFound(await findWritten(rows, reader), reader, messagesBeside),
    async openAt(places, reader) {
      const found = await findWritten(places, reader);
      const rows = await readTransactionsAt(
        reader,
        found.flatMap((one) => ('row' in one ? [one.row] : [])),
      );
      const byHash = new Map(rows.map((row) => [hashKey(row.hash), row]));
      const whole = found.flatMap((one): (CachedJson<TransactionNames> | Unwritten<FoundTransaction>)[] => {
        if (!('row' in one)) return [one];
        const row = byHash.get(hashKey(one.row.hash));
        return row === undefined ? [] : [{ key: keyOf(row), row }];
      });
      return openFound(whole, reader, 0);
    },
  };

  async function findWritten<R extends TransactionPlace>(
    rows: readonly R[],
    reader: StoreReader,
  ): Promise<readonly (CachedJson<TransactionNames> | Unwritten<R>)[]> {
    const { signal } = reader;
    const begin = (row: R): Unwritten<R> => ({ key: keyOf(row), row });
    const unwritten = await mapInSlices(rows, begin, createTimeSlice(signal));
    const cached = await cache?.find(
      unwritten.map(({ key }) => key),
      reader,
    );
    const found = unwritten.map((one) => cached?.get(one.key) ?? one);
    const left = found.flatMap((one) => ('row' in one ? [one.row] : []));
    const cut = left.length === 0 ? undefined : await stored?.find(left, reader);
    counted?.('cached', found.length - left.length);
    counted?.('stored', cut?.size ?? 0);
    counted?.('made', left.length - (cut?.size ?? 0));
    if (cut === undefined) return found;
    return mapInSlices(
      found,
      (one) => {
        const known = 'row' in one ? cut.get(hashKey(one.row.hash)) : undefined;
        if (known === undefined || !('row' in one)) return one;
        cache?.keep(one.key, { parts: [known.text], names: known.names }, CUT_BEFORE);
        return known;
      },
      createTimeSlice(signal),
    );
  }

  async function openFound(
    found: readonly (CachedJson<TransactionNames> | Unwritten<FoundTransaction>)[],
    { signal, takeBytes }: StoreReader,
    messagesBeside: number,
  ): Promise<OpenedTransactions> {
    const timeSlice = createTimeSlice(signal);
    const slab = createUtf8Buffer();
    const context = { timeSlice, store: createCellStore(), slab, takeBytes };
    // Transactions are rendered one by one: each bag reuses the memory of the previous bag.
    const readBag = createBagReader();
    const opened: Opened[] = [];
    let messages = 0;
    const count = (more: number): void => {
      messages += more;
      if (messages > MESSAGES_MAX) throw new V3Error('answer_too_large', 'the answer is too large: lower limit');
    };
    count(messagesBeside);
    for (const one of found) {
      await timeSlice.pause();
      if (!('row' in one)) {
        count(1 + one.names.out_msgs.length);
        opened.push(one);
        continue;
      }
      const shown = openTransaction(one.row, readBag);
      const { stateUpdate, originalStatus, endStatus, outMessageCount } = shown.transaction;
      count(1 + outMessageCount);
      const tail = { stateUpdate, originalStatus, endStatus, ...indexedMarks };
      opened.push({ ...one, ...(await renderPartial(shown, context)), tail });
    }
    return {
      accounts: opened.flatMap((one) => ('row' in one ? one.accounts : one.names.accounts)),
      write: (reader) => writeOpened(opened, slab, reader),
    };
  }

  async function writeOpened(
    opened: readonly Opened[],
    slab: Utf8Buffer,
    reader: StoreReader,
  ): Promise<readonly NewlyRendered[]> {
    const fresh = opened.filter((one) => 'row' in one);
    const states = await readStates(
      reader,
      fresh.flatMap(({ tail: { stateUpdate } }) => [stateUpdate.oldHash, stateUpdate.newHash]),
    );
    return mapInSlices(
      opened,
      (one) => {
        if (!('row' in one)) return { ...one.names, json: new RawJson([one.text]), isSettled: true };
        const { key, row, accounts, ...begun } = one;
        const names = { hash: viewBytes(row.hash), traceId: viewBytes(row.trace_id) };
        const statesBefore = withStateBefore(row, begun.tail, states);
        const { isSettled: isWhole, ...written } = assembleTransaction({ ...names, ...begun }, statesBefore, slab);
        // The state itself may be indexed later.
        const isSettled = isWhole && statesBefore === states;
        if (isSettled) keep(key, accounts, written);
        return { ...written, isSettled };
      },
      createTimeSlice(reader.signal),
    );
  }

  function keep(key: string, accounts: readonly string[], { json, ...tree }: RenderedTransaction): void {
    cache?.keep(key, { parts: json.parts, names: { ...tree, accounts } }, MADE_BEFORE);
  }
}

type Unwritten<R> = { readonly key: string; readonly row: R };

/** A transaction whose text lacks the states of its account. */
type Fresh = Unwritten<FoundTransaction> & PartialTransactionJson & { readonly tail: TransactionTail };

type Opened = Fresh | CachedJson<TransactionNames>;

/** The JSON depends on the cells, the block and the trace id. The trace id is in the key because traces can be merged later. */
const keyOf = ({ hash, trace_id: traceId }: TransactionPlace): string => hashKey(hash) + hashKey(traceId);
