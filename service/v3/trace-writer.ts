import { mapPaced, Written } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { findTransactionsOfTraces } from '../store/queries/traces.ts';
import type { FoundTransaction } from '../store/queries/transactions.ts';
import type { TraceRow } from '../store/tables.ts';
import type { Kept } from './kept-texts.ts';
import type { KeptTraces } from './kept-traces.ts';
import type { KeptTrace } from './packed-trace.ts';
import { viewAccountKey, viewBytes } from './scalars.ts';
import { viewContent, type TraceContent } from './trace-views.ts';
import type { OpenedTransactions, TransactionWriter } from './transaction-writer.ts';

/** Shows what traces hold; of those that are written already nothing is read. */
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

export type TraceWriterDependencies = {
  readonly kept: KeptTraces;
  readonly transactions: TransactionWriter;
};

export function createTraceWriter({ kept: keptTraces, transactions }: TraceWriterDependencies): TraceWriter {
  return {
    async open(rows, reader) {
      const written = await keptTraces.find(rows, reader);
      const opened = rows.map((row): Opened => ({ row, kept: written.get(row) }));
      const fresh = rows.filter((row) => !written.has(row));
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
      if (isSettled) keep(row, made, { accounts, messages });
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
    keptTraces.keep(row, { parts: [treeText, orderText, ...all.parts], names: { warning, ...known, ...bytes } });
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
