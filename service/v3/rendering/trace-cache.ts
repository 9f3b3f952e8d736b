import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { readWrittenTraces } from '#service/store/queries/traces.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import type { CachedJson, JsonCache } from '#service/runtime/json-cache.ts';
import type { CacheOutcome } from '../metrics.ts';
import { batchesOf, unpackJson } from './packed-json.ts';
import { TRACE_FORMAT_VERSION, type StoredTrace, type NewTrace } from './stored-trace.ts';
import { viewAccountKey } from '../request/scalars.ts';

/** Cache of complete rendered traces. */
export type TraceCache = {
  /** Finds the rows that are cached or stored. */
  find(rows: readonly TraceRow[], reader: StoreReader): Promise<FoundTraces>;
  keep(row: TraceRow, trace: NewTrace): void;
};

/** Rendered traces of a search. */
export type FoundTraces = {
  /** Data of each trace before it is read. */
  readonly known: ReadonlyMap<TraceRow, BeforeReading>;
  /** Reads all traces except unreadable ones. */
  read(): Promise<ReadonlyMap<TraceRow, CachedJson<StoredTrace>>>;
};

export type TraceCacheDependencies = {
  /** Recently requested traces that are not stored in Postgres, plus the most popular ones, as JSON. */
  readonly texts: JsonCache<StoredTrace>;
  /** Recently requested traces that are stored in Postgres, in packed form: a sixth of their text. */
  readonly packed: JsonCache<StoredTrace>;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Called for each look-up. */
  readonly counted: (outcome: CacheOutcome, traces: number) => void;
};

/** A larger trace is requested seldom. A tree may be as deep as it has transactions, and this many are written at once. */
const TRANSACTIONS_MAX = 256;

/** Part of the unpacked traces whose texts are cached too. This caches most popular traces and few rare ones. */
const TEXT_KEPT_RATE = 1 / 8;

/** Traces in memory, backed by the index. */
export function createTraceCache({ texts, packed, random, counted }: TraceCacheDependencies): TraceCache {
  function keepUnpacked({ row, frame, isKept }: PackedTrace, { text, names }: CachedJson<StoredTrace>): void {
    if (!isKept) packed.keep(keyOf(row), { parts: [frame], names });
    else if (random() < TEXT_KEPT_RATE) texts.keep(keyOf(row), { parts: [text], names });
  }

  /** Unpacks a batch and caches the unpacked texts. */
  function unpackTogether(batch: readonly PackedTrace[]): readonly ReadTrace[] | undefined {
    const unpacked = unpackJson<StoredTrace>(batch.map(({ frame }) => frame));
    return unpacked?.map((trace, at) => {
      keepUnpacked(batch[at]!, trace);
      return [batch[at]!.row, trace];
    });
  }

  async function unpack(
    traces: readonly PackedTrace[],
    { signal, takeBytes }: StoreReader,
  ): Promise<readonly ReadTrace[]> {
    const timeSlice = createTimeSlice(signal);
    const batches = batchesOf(traces, ({ frame }) => frame, takeBytes);
    const together = await mapInSlices(batches, (batch) => ({ batch, read: unpackTogether(batch) }), timeSlice);
    const left = together.flatMap(({ batch, read }) => (read === undefined ? batch : []));
    const apart = await mapInSlices(left, (one) => unpackTogether([one]) ?? [], timeSlice);
    return [...together.flatMap(({ read }) => read ?? []), ...apart.flat()];
  }

  return {
    async find(rows, reader) {
      const written: ReadTrace[] = [];
      const packedHits: PackedTrace[] = [];
      const missing: TraceRow[] = [];
      await mapInSlices(
        rows.filter(isCacheable),
        (row) => {
          const key = keyOf(row);
          const text = texts.get(key);
          const frame = text === undefined ? packed.get(key) : undefined;
          if (text !== undefined) written.push([row, text]);
          else if (frame !== undefined) packedHits.push({ row, ...frame.names, frame: frame.text, isKept: true });
          else missing.push(row);
        },
        createTimeSlice(reader.signal),
      );
      const stored = await findStored(missing, reader);
      counted('cached', written.length + packedHits.length);
      counted('stored', stored.length);
      counted('made', missing.length - stored.length);
      const known = new Map<TraceRow, BeforeReading>(written.map(([row, { names }]) => [row, names]));
      for (const one of [...packedHits, ...stored]) known.set(one.row, one);
      return {
        known,
        async read() {
          for (const [, { text }] of written) reader.takeBytes?.(text.length);
          return new Map([...written, ...(await unpack([...packedHits, ...stored], reader))]);
        },
      };
    },
    keep(row, trace) {
      if (isCacheable(row)) texts.keep(keyOf(row), trace);
    },
  };
}

type BeforeReading = Pick<StoredTrace, 'accounts' | 'messages'>;

type ReadTrace = readonly [row: TraceRow, packedHits: CachedJson<StoredTrace>];

type PackedTrace = BeforeReading & {
  readonly row: TraceRow;
  /** Result of `packTrace`. */
  readonly frame: Buffer;
  /** In memory. */
  readonly isKept: boolean;
};

/** Reads stored traces that memory lacks. */
async function findStored(rows: readonly TraceRow[], reader: StoreReader): Promise<readonly PackedTrace[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.trace_id);
  const stored = new Map((await readWrittenTraces(reader, ids, TRACE_FORMAT_VERSION)).map((one) => [keyOf(one), one]));
  return rows.flatMap((row): PackedTrace[] => {
    const one = stored.get(keyOf(row));
    if (one === undefined) return [];
    const accounts = one.accounts.map(viewAccountKey);
    return [{ row, frame: one.packed, messages: one.messages, accounts, isKept: false }];
  });
}

/** True for a complete trace that is not too large. */
export const isCacheable = ({ state, nodes }: TraceRow): boolean =>
  state === TRACE_STATE.complete && nodes <= TRANSACTIONS_MAX;

/** A complete trace is final. If two complete traces are merged, their counts change and so does the key. */
const keyOf = ({ trace_id: id, nodes, edges }: Pick<TraceRow, 'trace_id' | 'nodes' | 'edges'>): string =>
  `${hashKey(id)}${nodes},${edges}`;
