import { setImmediate } from 'node:timers/promises';

import { RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTransactionsOfTraces } from '#service/store/queries/traces.ts';
import type { TraceRow } from '#service/store/tables.ts';
import type { CachedJson } from '#service/runtime/json-cache.ts';
import type { FoundTraces, TraceCache } from './trace-cache.ts';
import type { StoredTrace } from './stored-trace.ts';
import { viewAccountKey, viewBytes } from '../request/scalars.ts';
import type { NewlyRendered } from './assemble-transaction.ts';
import { viewContent, type TraceContent } from '../views/trace-views.ts';
import type { TransactionRenderer } from './transaction-renderer.ts';

/** Renders the contents of traces; cached and stored traces need no rows. */
export type TraceRenderer = {
  /** @throws V3Error 422 for too many messages, ContractError 422 for too many bytes */
  open(rows: readonly TraceRow[], reader: StoreReader): Promise<OpenedTraces>;
};

/** Traces ready for rendering. */
export type OpenedTraces = {
  /** Raw addresses of their transactions. */
  readonly accounts: readonly string[];
  /** Contents of each row. */
  write(): Promise<ReadonlyMap<TraceRow, TraceContent>>;
};

export type TraceRendererDependencies = {
  readonly cache: TraceCache;
  readonly transactions: TransactionRenderer;
};

export function createTraceRenderer({ cache: traceCache, transactions }: TraceRendererDependencies): TraceRenderer {
  return {
    async open(rows, reader) {
      const found = await traceCache.find(rows, reader);
      const { known } = found;
      const fresh = rows.filter((row) => !known.has(row));
      const messagesKept = rows.reduce((sum, row) => sum + (known.get(row)?.messages ?? 0), 0);
      const opened = await openFresh(fresh, reader, messagesKept);
      const accounts = rows.flatMap((row) => known.get(row)?.accounts ?? opened.accountsOf(row));
      return {
        accounts,
        async write() {
          const [made, read] = [await opened.write(), await readFound(found)];
          const unread = [...known.keys()].filter((row) => !read.has(row));
          const rest = await (await openFresh(unread, reader)).write();
          return new Map([...made, ...read, ...rest]);
        },
      };
    },
  };

  /** Reads the transactions of traces that are not rendered yet. */
  async function openFresh(rows: readonly TraceRow[], reader: StoreReader, messagesBeside = 0): Promise<FreshTraces> {
    const found = await findTransactionsOfTraces(reader, rows);
    const content = await transactions.open(found, reader, messagesBeside);
    const byTrace = Map.groupBy(found, (one) => hashKey(one.trace_id));
    const accountsOf = (row: TraceRow): readonly string[] =>
      (byTrace.get(hashKey(row.trace_id)) ?? []).map(({ account }) => viewAccountKey(account));
    return {
      accountsOf,
      async write() {
        const written = Map.groupBy(await content.write(reader), ({ traceId }) => traceId);
        const shown = await mapInSlices(
          rows,
          (row): [row: TraceRow, content: TraceContent] => {
            const all = written.get(viewBytes(row.trace_id)) ?? [];
            return [row, writeFresh(row, all, accountsOf(row))];
          },
          createTimeSlice(reader.signal),
        );
        return new Map(shown);
      },
    };
  }

  function writeFresh(row: TraceRow, all: readonly NewlyRendered[], accounts: readonly string[]): TraceContent {
    const made = viewContent(viewBytes(row.trace_id), all);
    // Missing parts may be indexed later.
    const isSettled = all.length === row.nodes && all.every((one) => one.isSettled);
    const messages = all.reduce((sum, { out_msgs }) => sum + 1 + out_msgs.length, 0);
    if (isSettled) keep(row, made, { accounts, messages });
    return made;
  }

  function keep(
    row: TraceRow,
    { warning, trace, transactions_order: order, transactions: all }: TraceContent,
    known: Pick<StoredTrace, 'accounts' | 'messages'>,
  ): void {
    if (!(all instanceof RawJson)) return;
    const [treeText, orderText] = [JSON.stringify(trace), JSON.stringify(order)];
    const bytes = { treeBytes: Buffer.byteLength(treeText), orderBytes: Buffer.byteLength(orderText) };
    traceCache.keep(row, { parts: [treeText, orderText, ...all.parts], names: { warning, ...known, ...bytes } });
  }
}

type FreshTraces = {
  /** Raw addresses of a trace's transactions. */
  readonly accountsOf: (row: TraceRow) => readonly string[];
  readonly write: () => Promise<ReadonlyMap<TraceRow, TraceContent>>;
};

async function readFound(found: FoundTraces): Promise<ReadonlyMap<TraceRow, TraceContent>> {
  // The names of their accounts are queried first: Postgres then works in parallel.
  await setImmediate();
  return new Map(Array.from(await found.read(), ([row, cached]) => [row, contentOf(cached)]));
}

function contentOf({ text, names: { warning, treeBytes, orderBytes } }: CachedJson<StoredTrace>): TraceContent {
  return {
    ...(warning && { warning }),
    trace: new RawJson([text.subarray(0, treeBytes)]),
    transactions_order: new RawJson([text.subarray(treeBytes, treeBytes + orderBytes)]),
    transactions: new RawJson([text.subarray(treeBytes + orderBytes)]),
  };
}
