import { createPacer, mapPaced, type Pacer } from '../contract/paced.ts';
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
  /** Of those that were asked for last, what the index has not written, and what is asked for most. */
  readonly texts: KeptTexts<KeptTrace>;
  /** Of those what the index has written: packed as it is there, a sixth of its text. */
  readonly packed: KeptTexts<KeptTrace>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Told of each that is looked for. */
  readonly counted: (outcome: KeptOutcome, traces: number) => void;
};

/** A larger trace is asked for seldom; a tree may be as deep as it has transactions, and this is what is written of one at once. */
const TRANSACTIONS_MAX = 256;

/** Of the packed traces in memory that are unpacked, the part whose texts are kept as well: of a few asks most of what is asked for again and again, of one a little. */
const TEXT_KEPT_RATE = 1 / 8;

/** In memory, and behind that in the index. */
export function createKeptTraces({ texts, packed, random, counted }: KeptTracesDependencies): KeptTraces {
  function keepUnpacked({ row, frame, isKept }: PackedTrace, { text, names }: Kept<KeptTrace>): void {
    if (!isKept) packed.keep(keyOf(row), { parts: [frame], names });
    else if (random() < TEXT_KEPT_RATE) texts.keep(keyOf(row), { parts: [text], names });
  }

  /** What could be unpacked is kept. */
  function unpackTogether(batch: readonly PackedTrace[]): readonly ReadTrace[] | undefined {
    const unpacked = unpackTraces(batch.map(({ frame }) => frame));
    return unpacked?.map((trace, at) => {
      keepUnpacked(batch[at]!, trace);
      return [batch[at]!.row, trace];
    });
  }

  async function unpack(traces: readonly PackedTrace[], pacer: Pacer): Promise<readonly ReadTrace[]> {
    const batches = batchesOf(traces, ({ frame }) => frame);
    const together = await mapPaced(batches, (batch) => ({ batch, read: unpackTogether(batch) }), pacer);
    const left = together.flatMap(({ batch, read }) => (read === undefined ? batch : []));
    const apart = await mapPaced(left, (one) => unpackTogether([one]) ?? [], pacer);
    return [...together.flatMap(({ read }) => read ?? []), ...apart.flat()];
  }

  return {
    async find(rows, reader) {
      const written: ReadTrace[] = [];
      const kept: PackedTrace[] = [];
      const missing: TraceRow[] = [];
      await mapPaced(
        rows.filter(mayBeKept),
        (row) => {
          const key = keyOf(row);
          const text = texts.get(key);
          const frame = text === undefined ? packed.get(key) : undefined;
          if (text !== undefined) written.push([row, text]);
          else if (frame !== undefined) kept.push({ row, ...frame.names, frame: frame.text, isKept: true });
          else missing.push(row);
        },
        createPacer(reader.signal),
      );
      const stored = await findStored(missing, reader);
      counted('kept', written.length + kept.length);
      counted('stored', stored.length);
      counted('made', missing.length - stored.length);
      const known = new Map<TraceRow, BeforeReading>(written.map(([row, { names }]) => [row, names]));
      for (const one of [...kept, ...stored]) known.set(one.row, one);
      return {
        known,
        read: async () => new Map([...written, ...(await unpack([...kept, ...stored], createPacer(reader.signal)))]),
      };
    },
    keep(row, trace) {
      if (mayBeKept(row)) texts.keep(keyOf(row), trace);
    },
  };
}

type BeforeReading = Pick<KeptTrace, 'accounts' | 'messages'>;

type ReadTrace = readonly [row: TraceRow, kept: Kept<KeptTrace>];

type PackedTrace = BeforeReading & {
  readonly row: TraceRow;
  /** As `packTrace` gives it. */
  readonly frame: Buffer;
  /** In memory. */
  readonly isKept: boolean;
};

/** What the index has of traces that memory has not. */
async function findStored(rows: readonly TraceRow[], reader: StoreReader): Promise<readonly PackedTrace[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.trace_id);
  const stored = new Map((await readWrittenTraces(reader, ids, traceForm)).map((one) => [keyOf(one), one]));
  return rows.flatMap((row): PackedTrace[] => {
    const one = stored.get(keyOf(row));
    if (one === undefined) return [];
    const accounts = one.accounts.map(viewAccountKey);
    return [{ row, frame: one.packed, messages: one.messages, accounts, isKept: false }];
  });
}

/** Whether a trace is as it will stay, and is not too large. */
export const mayBeKept = ({ state, nodes }: TraceRow): boolean =>
  state === TRACE_STATE.complete && nodes <= TRANSACTIONS_MAX;

/** A complete trace is as it is told for good; where two of them turn out to be one, their counts are others. */
const keyOf = ({ trace_id: id, nodes, edges }: Pick<TraceRow, 'trace_id' | 'nodes' | 'edges'>): string =>
  `${hashKey(id)}${nodes},${edges}`;
