import { createPacer, mapPaced, Written } from '../contract/paced.ts';
import { createTextSlab } from '../contract/text-slab.ts';
import { formatRawAddress } from '../decode/address.ts';
import { createBagReader, type BagReader } from '../decode/boc.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { readTransactionOutline } from '../decode/tlb/transaction.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { readTransactionsAt, type FoundTransaction, type TransactionPlace } from '../store/queries/transactions.ts';
import { V3Error } from './errors.ts';
import { writeHeads, type HeadWriting } from './head-writing.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import { viewBytes } from './scalars.ts';
import {
  finishTransaction,
  indexedMarks,
  readStates,
  type NewlyWritten,
  type WrittenTransaction,
} from './shown-transactions.ts';
import { withStateBefore } from './state-before.ts';
import type { TransactionTail } from './transaction-views.ts';

/** Renders indexed transactions; recently requested transactions are cached. */
export type TransactionWriter = {
  /**
   * @param messagesBeside messages of other transactions in the answer; default none
   * @throws V3Error 413 for too many messages
   */
  open(
    rows: readonly FoundTransaction[],
    reader: Pick<StoreReader, 'signal'>,
    messagesBeside?: number,
  ): Promise<OpenedTransactions>;
  /** Same as `open`: cached transactions need no read. */
  openAt(places: readonly TransactionPlace[], reader: StoreReader): Promise<OpenedTransactions>;
};

/** Indexed transactions ready for rendering, in the given order. */
export type OpenedTransactions = {
  /** Accounts of the transactions and both ends of their messages, same as `addressesOf` of rendered transactions. */
  readonly accounts: readonly string[];
  write(reader: StoreReader): Promise<readonly NewlyWritten[]>;
};

/** Cached data of a rendered transaction besides its text. */
export type KeptNames = Omit<WrittenTransaction, 'json'> & { readonly accounts: readonly string[] };

/** Messages in an answer, some 45 MB of JSON: a page of 100 transactions with the most messages. */
const MESSAGES_MAX = 30_000;

export type TransactionWriterDependencies = Pick<HeadWriting, 'threads' | 'written'> & {
  readonly texts: KeptTexts<KeptNames>;
};

export function createTransactionWriter({ texts, ...writing }: TransactionWriterDependencies): TransactionWriter {
  return {
    open: async (rows, { signal }, messagesBeside = 0) =>
      openFound(await mapPaced(rows, findWritten, createPacer(signal)), signal, messagesBeside),
    async openAt(places, reader) {
      const found = await mapPaced(places, findWritten, createPacer(reader.signal));
      const rows = await readTransactionsAt(
        reader,
        found.flatMap((one) => ('row' in one ? [one.row] : [])),
      );
      const byHash = new Map(rows.map((row) => [hashKey(row.hash), row]));
      const whole = found.flatMap((one): (Kept<KeptNames> | Unwritten<FoundTransaction>)[] => {
        if (!('row' in one)) return [one];
        const row = byHash.get(hashKey(one.row.hash));
        return row === undefined ? [] : [{ key: keyOf(row), row }];
      });
      return openFound(whole, reader.signal, 0);
    },
  };

  function findWritten<R extends TransactionPlace>(row: R): Kept<KeptNames> | Unwritten<R> {
    const key = keyOf(row);
    return texts.get(key) ?? { key, row };
  }

  async function openFound(
    found: readonly (Kept<KeptNames> | Unwritten<FoundTransaction>)[],
    signal: AbortSignal | undefined,
    messagesBeside: number,
  ): Promise<OpenedTransactions> {
    const pacer = createPacer(signal);
    const readBag = createBagReader();
    const opened: Opened[] = [];
    let messages = 0;
    const count = (more: number): void => {
      messages += more;
      if (messages > MESSAGES_MAX) throw new V3Error('answer_too_large', 'the answer is too large: lower limit');
    };
    count(messagesBeside);
    for (const one of found) {
      await pacer.pause();
      const begun: Opened = 'row' in one ? { ...one, ...outlineOf(one.row, readBag) } : one;
      count(1 + ('row' in begun ? begun.sent : begun.names.out_msgs.length));
      opened.push(begun);
    }
    return {
      accounts: opened.flatMap((one) => ('row' in one ? one.accounts : one.names.accounts)),
      write: (reader) => writeOpened(opened, reader),
    };
  }

  /** Most of the text is rendered while the states are read. */
  async function writeOpened(opened: readonly Opened[], reader: StoreReader): Promise<readonly NewlyWritten[]> {
    const fresh = opened.filter((one) => 'row' in one);
    const hashes = fresh.flatMap(({ tail: { stateUpdate } }) => [stateUpdate.oldHash, stateUpdate.newHash]);
    const slab = createTextSlab();
    const [states, heads] = await Promise.all([
      readStates(reader, hashes),
      writeHeads(fresh, { slab, signal: reader.signal, ...writing }),
    ]);
    const next = heads.values();
    return mapPaced(
      opened,
      (one) => {
        if (!('row' in one)) return { ...one.names, json: new Written([one.text]), isSettled: true };
        const names = { hash: viewBytes(one.row.hash), traceId: viewBytes(one.row.trace_id) };
        const begun = { ...names, ...next.next().value!, tail: one.tail };
        const told = withStateBefore(one.row, one.tail, states);
        const { isSettled: isWhole, ...written } = finishTransaction(begun, told, slab);
        // The state itself may be indexed later.
        const isSettled = isWhole && told === states;
        if (isSettled) keep(one, written);
        return { ...written, isSettled };
      },
      createPacer(reader.signal),
    );
  }

  function keep({ key, accounts }: Fresh, { json, ...tree }: WrittenTransaction): void {
    texts.keep(key, { parts: json.parts, names: { ...tree, accounts } });
  }
}

/** Data of a transaction that is needed before any rendering. */
type Outline = {
  readonly accounts: readonly string[];
  readonly tail: TransactionTail;
  /** Messages that it sent. */
  readonly sent: number;
};

function outlineOf({ boc, workchain }: FoundTransaction, readBag: BagReader): Outline {
  const table = readBag(boc);
  const read = readTransactionOutline(table, table.roots[0]!);
  const account = formatRawAddress({ workchain, id: read.account }, 'upper');
  const { stateUpdate, originalStatus, endStatus } = read;
  return {
    accounts: [account, ...read.parties.map(addressText)],
    tail: { stateUpdate, originalStatus, endStatus, ...indexedMarks },
    sent: read.outMessageCount,
  };
}

type Unwritten<R> = { readonly key: string; readonly row: R };

type Fresh = Outline & Unwritten<FoundTransaction>;

type Opened = Fresh | Kept<KeptNames>;

/** The JSON depends on the cells, the block and the trace id. The trace id is in the key because traces can be merged later. */
const keyOf = ({ hash, trace_id: traceId }: TransactionPlace): string => hashKey(hash) + hashKey(traceId);
