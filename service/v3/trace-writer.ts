import { mapPaced, Written } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { findTransactionsOfTraces } from '../store/queries/traces.ts';
import type { FoundTransaction } from '../store/queries/transactions.ts';
import type { TraceRow } from '../store/tables.ts';
import { TRACE_STATE } from '../store/trace-plan.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import { viewAccountKey, viewBytes } from './scalars.ts';
import { viewContent, type TraceContent } from './trace-views.ts';
import type { OpenedTransactions, TransactionWriter } from './transaction-writer.ts';

/** Shows what traces hold; of those that were asked for last and are complete all of it stays written: their transactions are not read again. */
export type TraceWriter = {
  /** @throws V3Error 413 they have too many messages */
  open(rows: readonly TraceRow[], reader: StoreReader): Promise<OpenedTraces>;
};

/** Traces, about to be shown. */
export type OpenedTraces = {
  /** Of their transactions, raw. */
  readonly accounts: readonly string[];
  /** What each of the rows holds. */
  write(): Promise<ReadonlyMap<TraceRow, TraceContent>>;
};

/** What of a written trace is kept beside its text. */
export type KeptTrace = {
  readonly warning: string | undefined;
  readonly accounts: readonly string[];
  /** That its transactions took and sent. */
  readonly messages: number;
  /** Bytes of its tree and of the order of its transactions; the rest are those. */
  readonly treeBytes: number;
  readonly orderBytes: number;
};

/** A larger trace is asked for seldom; a tree may be as deep as it has transactions, and this is what is written of one at once. */
const TRANSACTIONS_MAX = 256;

export type TraceWriterDependencies = {
  readonly texts: KeptTexts<KeptTrace>;
  readonly transactions: TransactionWriter;
};

export function createTraceWriter({ texts, transactions }: TraceWriterDependencies): TraceWriter {
  return {
    async open(rows, reader) {
      const opened = await mapPaced(rows, (row): Opened => ({
        row,
        kept: mayBeKept(row) ? texts.get(keyOf(row)) : undefined,
      }));
      const fresh = opened.filter(({ kept }) => kept === undefined).map(({ row }) => row);
      const found = await findTransactionsOfTraces(reader, fresh);
      const messagesKept = opened.reduce((sum, { kept }) => sum + (kept?.names.messages ?? 0), 0);
      const content = await transactions.open(found, messagesKept);
      const takers = Map.groupBy(found, (one) => hashKey(one.trace_id));
      const whole = opened.map((one) => ({ ...one, accounts: accountsOf(one, takers) }));
      return { accounts: whole.flatMap(({ accounts }) => accounts), write: () => writeOpened(whole, content, reader) };
    },
  };

  async function writeOpened(
    opened: readonly (Opened & { readonly accounts: readonly string[] })[],
    content: OpenedTransactions,
    reader: StoreReader,
  ): Promise<ReadonlyMap<TraceRow, TraceContent>> {
    const written = Map.groupBy(await content.write(reader), ({ traceId }) => traceId);
    const shown = await mapPaced(opened, ({ row, kept, accounts }): [row: TraceRow, content: TraceContent] => {
      if (kept !== undefined) return [row, contentOf(kept)];
      const id = viewBytes(row.trace_id);
      const all = written.get(id) ?? [];
      const made = viewContent(id, all);
      // What one of them does not know yet may be indexed later.
      const isSettled = all.length === row.nodes && all.every((one) => one.isSettled);
      const messages = all.reduce((sum, { out_msgs }) => sum + 1 + out_msgs.length, 0);
      if (isSettled && mayBeKept(row)) keep(row, made, { accounts, messages });
      return [row, made];
    });
    return new Map(shown);
  }

  function keep(
    row: TraceRow,
    { warning, trace, transactions_order: order, transactions: all }: TraceContent,
    known: Pick<KeptTrace, 'accounts' | 'messages'>,
  ): void {
    if (!(all instanceof Written)) return;
    const [treeText, orderText] = [JSON.stringify(trace), JSON.stringify(order)];
    const bytes = { treeBytes: Buffer.byteLength(treeText), orderBytes: Buffer.byteLength(orderText) };
    texts.keep(keyOf(row), { parts: [treeText, orderText, ...all.parts], names: { warning, ...known, ...bytes } });
  }
}

type Opened = { readonly row: TraceRow; readonly kept: Kept<KeptTrace> | undefined };

function accountsOf(
  { row, kept }: Opened,
  takers: ReadonlyMap<string, readonly FoundTransaction[]>,
): readonly string[] {
  if (kept !== undefined) return kept.names.accounts;
  return (takers.get(hashKey(row.trace_id)) ?? []).map(({ account }) => viewAccountKey(account));
}

function contentOf({ text, names: { warning, treeBytes, orderBytes } }: Kept<KeptTrace>): TraceContent {
  return {
    ...(warning && { warning }),
    trace: new Written([text.subarray(0, treeBytes)]),
    transactions_order: new Written([text.subarray(treeBytes, treeBytes + orderBytes)]),
    transactions: new Written([text.subarray(treeBytes + orderBytes)]),
  };
}

const mayBeKept = ({ state, nodes }: TraceRow): boolean => state === TRACE_STATE.complete && nodes <= TRANSACTIONS_MAX;

/** A complete trace is as it is told for good; where two of them turn out to be one, their counts are others. */
const keyOf = ({ trace_id: id, nodes, edges }: TraceRow): string => `${hashKey(id)}${nodes},${edges}`;
