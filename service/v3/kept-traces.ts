import { mapPaced } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { readWrittenTraces } from '../store/queries/traces.ts';
import type { TraceRow } from '../store/tables.ts';
import { TRACE_STATE } from '../store/trace-plan.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import type { KeptOutcome } from './metrics.ts';
import { traceForm, unpackTrace, type KeptTrace, type NewTrace } from './packed-trace.ts';
import { expectFewMessages } from './transaction-writer.ts';

/** Complete traces that are written already. */
export type KeptTraces = {
  /** Of the rows those that are. @throws V3Error 413 they have too many messages */
  find(rows: readonly TraceRow[], reader: StoreReader): Promise<ReadonlyMap<TraceRow, Kept<KeptTrace>>>;
  keep(row: TraceRow, trace: NewTrace): void;
};

export type KeptTracesDependencies = {
  /** Those that were asked for last. */
  readonly texts: KeptTexts<KeptTrace>;
  /** Told of each that is looked for. */
  readonly counted: (outcome: KeptOutcome, traces: number) => void;
};

/** A larger trace is asked for seldom; a tree may be as deep as it has transactions, and this is what is written of one at once. */
const TRANSACTIONS_MAX = 256;

/** In memory, and behind that in the index. */
export function createKeptTraces({ texts, counted }: KeptTracesDependencies): KeptTraces {
  /** What the index has of traces that memory has not; those are asked for again. */
  async function findStored(
    rows: readonly TraceRow[],
    reader: StoreReader,
  ): Promise<[row: TraceRow, kept: Kept<KeptTrace>][]> {
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.trace_id);
    const stored = new Map((await readWrittenTraces(reader, ids, traceForm)).map((one) => [keyOf(one), one]));
    const there = rows.filter((row) => stored.has(keyOf(row)));
    expectFewMessages(there.reduce((sum, row) => sum + stored.get(keyOf(row))!.messages, 0));
    const found = await mapPaced(there, (row): [row: TraceRow, kept: Kept<KeptTrace>][] => {
      const kept = unpackTrace(stored.get(keyOf(row))!.packed);
      if (kept === undefined) return [];
      texts.keep(keyOf(row), { parts: [kept.text], names: kept.names });
      return [[row, kept]];
    });
    return found.flat();
  }

  return {
    async find(rows, reader) {
      const wanted = rows.filter(mayBeKept);
      const inMemory = await mapPaced(wanted, (row): [row: TraceRow, kept: Kept<KeptTrace> | undefined] => [
        row,
        texts.get(keyOf(row)),
      ]);
      const kept = inMemory.filter((one): one is [row: TraceRow, kept: Kept<KeptTrace>] => one[1] !== undefined);
      const missing = inMemory.filter(([, one]) => one === undefined).map(([row]) => row);
      const stored = await findStored(missing, reader);
      counted('kept', kept.length);
      counted('stored', stored.length);
      counted('made', missing.length - stored.length);
      return new Map([...kept, ...stored]);
    },
    keep(row, trace) {
      if (mayBeKept(row)) texts.keep(keyOf(row), trace);
    },
  };
}

/** Whether a trace is as it will stay, and is not too large. */
export const mayBeKept = ({ state, nodes }: TraceRow): boolean =>
  state === TRACE_STATE.complete && nodes <= TRANSACTIONS_MAX;

/** A complete trace is as it is told for good; where two of them turn out to be one, their counts are others. */
const keyOf = ({ trace_id: id, nodes, edges }: Pick<TraceRow, 'trace_id' | 'nodes' | 'edges'>): string =>
  `${hashKey(id)}${nodes},${edges}`;
