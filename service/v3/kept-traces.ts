import { mapPaced } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { readWrittenTraces } from '../store/queries/traces.ts';
import type { TraceRow } from '../store/tables.ts';
import { TRACE_STATE } from '../store/trace-plan.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import type { KeptOutcome } from './metrics.ts';
import { traceForm, unpackTrace, type KeptTrace, type NewTrace } from './packed-trace.ts';
import { viewAccountKey } from './scalars.ts';

/** Complete traces that are written already. */
export type KeptTraces = {
  /** Of the rows those that are. */
  find(rows: readonly TraceRow[], reader: StoreReader): Promise<ReadonlyMap<TraceRow, FoundTrace>>;
  keep(row: TraceRow, trace: NewTrace): void;
};

/** A trace that is written already. */
export type FoundTrace = Pick<KeptTrace, 'accounts' | 'messages'> & {
  /** Takes some tens of microseconds of a stored one; undefined where that cannot be read. */
  readonly read: () => Kept<KeptTrace> | undefined;
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
  async function findStored(rows: readonly TraceRow[], reader: StoreReader): Promise<[TraceRow, FoundTrace][]> {
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.trace_id);
    const stored = new Map((await readWrittenTraces(reader, ids, traceForm)).map((one) => [keyOf(one), one]));
    return rows.flatMap((row): [TraceRow, FoundTrace][] => {
      const key = keyOf(row);
      const one = stored.get(key);
      if (one === undefined) return [];
      const read = (): Kept<KeptTrace> | undefined => {
        const kept = unpackTrace(one.packed);
        if (kept !== undefined) texts.keep(key, { parts: [kept.text], names: kept.names });
        return kept;
      };
      return [[row, { messages: one.messages, accounts: one.accounts.map(viewAccountKey), read }]];
    });
  }

  return {
    async find(rows, reader) {
      const wanted = await mapPaced(rows.filter(mayBeKept), (row) => ({ row, kept: texts.get(keyOf(row)) }));
      const kept = wanted.flatMap(({ row, kept: one }): [TraceRow, FoundTrace][] =>
        one === undefined ? [] : [[row, { ...one.names, read: () => one }]],
      );
      const missing = wanted.filter((one) => one.kept === undefined).map(({ row }) => row);
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
