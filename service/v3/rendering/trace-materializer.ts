import { createAnswerSize, type AnswerSize } from '#service/contract/answer-size.ts';
import { ContractError } from '#service/contract/errors.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { parseAddress } from '#service/decode/address.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { accountKey } from '#service/store/account-key.ts';
import { StoreError } from '#service/store/errors.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { putWrittenTraces, type WrittenTraceRow } from '#service/store/written-traces.ts';
import { V3Error } from '../request/errors.ts';
import { isCacheable, type FoundTraces } from './trace-cache.ts';
import { packJson } from './packed-json.ts';
import { TRACE_FORMAT_VERSION, type NewTrace } from './stored-trace.ts';
import { createTraceRenderer } from './trace-renderer.ts';
import { createTransactionRenderer } from './transaction-renderer.ts';

/** Stores complete traces as answers show them. */
export type TraceMaterializer = {
  /**
   * Stores complete traces that are final and not too large.
   *
   * @returns number of stored traces. Rejects with StoreError, and with the signal's reason
   */
  readonly store: (rows: readonly TraceRow[], signal: AbortSignal) => Promise<number>;
};

export type TraceMaterializerDependencies = {
  readonly store: Pick<Store, 'transaction'>;
};

/** Transactions that are read and rendered at once. With the most messages that they may have, they still fit into an answer. */
const TRANSACTIONS_AT_ONCE = 100;

/** Size of traces that are rendered at once. Usual transactions have some 4 KB. */
const MEBIBYTES_AT_ONCE = 16;

const noTraces: FoundTraces = { known: new Map(), read: () => Promise.resolve(new Map()) };

export function createTraceMaterializer({ store }: TraceMaterializerDependencies): TraceMaterializer {
  // A replica may not have the newest blocks.
  const readerWithin = ({ bytesMax, take }: AnswerSize, signal: AbortSignal): StoreReader => ({
    signal,
    takeBytes: take,
    read: (sql, values, mode) =>
      store.transaction(({ query }) => query(sql, values, { ...mode, bytesMax }), { durable: false }),
  });
  const transactions = createTransactionRenderer({});

  /** Traces that cannot be rendered are omitted: a request for them returns the reason. */
  async function write(rows: readonly TraceRow[], signal: AbortSignal): Promise<readonly WrittenTraceRow[]> {
    const made = new Map<TraceRow, NewTrace>();
    const writer = createTraceRenderer({
      cache: { find: () => Promise.resolve(noTraces), keep: (row, trace) => void made.set(row, trace) },
      transactions,
    });
    try {
      const size = createAnswerSize({ mebibytes: MEBIBYTES_AT_ONCE });
      const opened = await writer.open(rows, readerWithin(size, signal));
      await opened.write();
      return (await mapInSlices(made, pack, createTimeSlice(signal))).filter((row) => row !== undefined);
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      if (rows.length === 1) return [];
      const written: WrittenTraceRow[] = [];
      for (const row of rows) written.push(...(await write([row], signal)));
      return written;
    }
  }

  return {
    async store(rows, signal) {
      let stored = 0;
      for (const part of partsOf(rows.filter(isCacheable))) {
        signal.throwIfAborted();
        const written = await write(part, signal);
        await putWrittenTraces(store, written);
        stored += written.length;
      }
      return stored;
    },
  };
}

/** True for an error of the traces themselves. */
function isUnwritable(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'rows_too_large';
  return error instanceof DecodeError || error instanceof V3Error || error instanceof ContractError;
}

function pack([row, trace]: readonly [TraceRow, NewTrace]): WrittenTraceRow | undefined {
  const packed = packJson(trace);
  if (packed === undefined) return undefined;
  const { trace_id, nodes, edges } = row;
  const { messages } = trace.names;
  const accounts = [...new Set(trace.names.accounts)].map((text) => accountKey(parseAddress(text)!));
  return { trace_id, nodes, edges, form: TRACE_FORMAT_VERSION, messages, accounts, packed };
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
