import { mapPaced } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { readWrittenTraces } from '../store/queries/traces.ts';
import type { TraceRow } from '../store/tables.ts';
import { TRACE_STATE } from '../store/trace-plan.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import type { KeptOutcome } from './metrics.ts';
import { batchesOf, traceForm, unpackTraces, type KeptTrace, type NewTrace } from './packed-trace.ts';
import { viewAccountKey } from './scalars.ts';

/** Complete traces that are written already. */
export type KeptTraces = {
  /** Of the rows those that are. */
  find(rows: readonly TraceRow[], reader: StoreReader): Promise<FoundTraces>;
  keep(row: TraceRow, trace: NewTrace): void;
};

/** Traces that are written already. */
export type FoundTraces = {
  /** What is known of each before it is read. */
  readonly known: ReadonlyMap<TraceRow, BeforeReading>;
  /** All but those that cannot be read. */
  read(): Promise<ReadonlyMap<TraceRow, Kept<KeptTrace>>>;
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
  /** What is unpacked is kept. */
  function unpackTogether(batch: readonly StoredTrace[]): readonly ReadTrace[] | undefined {
    const unpacked = unpackTraces(batch.map((one) => one.packed));
    return unpacked?.map((kept, at) => {
      const { row } = batch[at]!;
      texts.keep(keyOf(row), { parts: [kept.text], names: kept.names });
      return [row, kept];
    });
  }

  async function unpack(stored: readonly StoredTrace[]): Promise<readonly ReadTrace[]> {
    const batches = batchesOf(stored, (one) => one.packed);
    const together = await mapPaced(batches, (batch) => ({ batch, read: unpackTogether(batch) }));
    const left = together.flatMap(({ batch, read }) => (read === undefined ? batch : []));
    const apart = await mapPaced(left, (one) => unpackTogether([one]) ?? []);
    return [...together.flatMap(({ read }) => read ?? []), ...apart.flat()];
  }

  return {
    async find(rows, reader) {
      const wanted = await mapPaced(rows.filter(mayBeKept), (row) => ({ row, kept: texts.get(keyOf(row)) }));
      const kept = wanted.flatMap(({ row, kept: one }): ReadTrace[] => (one === undefined ? [] : [[row, one]]));
      const missing = wanted.filter((one) => one.kept === undefined).map(({ row }) => row);
      const stored = await findStored(missing, reader);
      counted('kept', kept.length);
      counted('stored', stored.length);
      counted('made', missing.length - stored.length);
      const known = new Map<TraceRow, BeforeReading>(kept.map(([row, { names }]) => [row, names]));
      for (const one of stored) known.set(one.row, one);
      return { known, read: async () => new Map([...kept, ...(await unpack(stored))]) };
    },
    keep(row, trace) {
      if (mayBeKept(row)) texts.keep(keyOf(row), trace);
    },
  };
}

type BeforeReading = Pick<KeptTrace, 'accounts' | 'messages'>;

type ReadTrace = readonly [row: TraceRow, kept: Kept<KeptTrace>];

/** As the index has it. */
type StoredTrace = BeforeReading & { readonly row: TraceRow; readonly packed: Buffer };

/** What the index has of traces that memory has not. */
async function findStored(rows: readonly TraceRow[], reader: StoreReader): Promise<readonly StoredTrace[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.trace_id);
  const stored = new Map((await readWrittenTraces(reader, ids, traceForm)).map((one) => [keyOf(one), one]));
  return rows.flatMap((row): StoredTrace[] => {
    const one = stored.get(keyOf(row));
    if (one === undefined) return [];
    return [{ row, packed: one.packed, messages: one.messages, accounts: one.accounts.map(viewAccountKey) }];
  });
}

/** Whether a trace is as it will stay, and is not too large. */
export const mayBeKept = ({ state, nodes }: TraceRow): boolean =>
  state === TRACE_STATE.complete && nodes <= TRANSACTIONS_MAX;

/** A complete trace is as it is told for good; where two of them turn out to be one, their counts are others. */
const keyOf = ({ trace_id: id, nodes, edges }: Pick<TraceRow, 'trace_id' | 'nodes' | 'edges'>): string =>
  `${hashKey(id)}${nodes},${edges}`;
