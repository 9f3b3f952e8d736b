import { createPacer, mapPaced } from '../contract/paced.ts';
import { parseAddress } from '../decode/address.ts';
import { DecodeError } from '../decode/errors.ts';
import { accountKey } from '../store/account-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import type { Store } from '../store/store.ts';
import type { TraceRow } from '../store/tables.ts';
import { putWrittenTraces, type WrittenTraceRow } from '../store/written-traces.ts';
import { V3Error } from './errors.ts';
import type { HeadWriting } from './head-writing.ts';
import { mayBeKept, type FoundTraces } from './kept-traces.ts';
import { packTrace, TRACE_FORM, type NewTrace } from './packed-trace.ts';
import { createTraceWriter } from './trace-writer.ts';
import { createTransactionWriter } from './transaction-writer.ts';

/** Stores complete traces as answers show them. */
export type TraceStoring = {
  /**
   * Stores complete traces that are final and not too large.
   *
   * @returns number of stored traces. Rejects with StoreError, and with the signal's reason
   */
  readonly store: (rows: readonly TraceRow[], signal: AbortSignal) => Promise<number>;
};

export type TraceStoringDependencies = Pick<HeadWriting, 'threads'> & { readonly store: Pick<Store, 'transaction'> };

/** Transactions that are read and rendered at once. With the most messages that they may have, they still fit into an answer. */
const TRANSACTIONS_AT_ONCE = 100;

/** No text is stored yet, and no text is requested again here. */
const noTexts = { get: () => undefined, keep: () => {}, bytes: () => 0 };

const noTraces: FoundTraces = { known: new Map(), read: () => Promise.resolve(new Map()) };

export function createTraceStoring({ store, threads }: TraceStoringDependencies): TraceStoring {
  // A replica may not have the newest blocks.
  const reader = {
    read: (sql, values, mode) => store.transaction(({ query }) => query(sql, values, mode), { durable: false }),
  } satisfies StoreReader;
  const transactions = createTransactionWriter({ texts: noTexts, threads });

  /** Traces that cannot be rendered are omitted: a request for them returns the reason. */
  async function write(rows: readonly TraceRow[], signal: AbortSignal): Promise<readonly WrittenTraceRow[]> {
    const made = new Map<TraceRow, NewTrace>();
    const writer = createTraceWriter({
      kept: { find: () => Promise.resolve(noTraces), keep: (row, trace) => void made.set(row, trace) },
      transactions,
    });
    try {
      const opened = await writer.open(rows, { ...reader, signal });
      await opened.write();
      return (await mapPaced(made, pack, createPacer(signal))).filter((row) => row !== undefined);
    } catch (error) {
      if (!(error instanceof DecodeError || error instanceof V3Error)) throw error;
      if (rows.length === 1) return [];
      const written: WrittenTraceRow[] = [];
      for (const row of rows) written.push(...(await write([row], signal)));
      return written;
    }
  }

  return {
    async store(rows, signal) {
      let stored = 0;
      for (const part of partsOf(rows.filter(mayBeKept))) {
        signal.throwIfAborted();
        const written = await write(part, signal);
        await putWrittenTraces(store, written);
        stored += written.length;
      }
      return stored;
    },
  };
}

function pack([row, trace]: readonly [TraceRow, NewTrace]): WrittenTraceRow | undefined {
  const packed = packTrace(trace);
  if (packed === undefined) return undefined;
  const { trace_id, nodes, edges } = row;
  const { messages } = trace.names;
  const accounts = [...new Set(trace.names.accounts)].map((text) => accountKey(parseAddress(text)!));
  return { trace_id, nodes, edges, form: TRACE_FORM, messages, accounts, packed };
}

/** Cuts rows into parts up to the bound, with at least one row. */
function partsOf(rows: readonly TraceRow[]): readonly (readonly TraceRow[])[] {
  const parts: TraceRow[][] = [];
  let left = 0;
  for (const row of rows) {
    if (row.nodes > left) {
      parts.push([]);
      left = TRANSACTIONS_AT_ONCE;
    }
    parts.at(-1)!.push(row);
    left -= row.nodes;
  }
  return parts;
}
