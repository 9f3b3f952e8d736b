import { classify } from '#service/actions/classify.ts';
import type { ClassifierTrace } from '#service/actions/engine/classifier-input.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { interfacesOf } from '#service/interfaces/known-facts.ts';
import { traceMeaning } from '#service/interpreter/action-rows.ts';
import { eventTraceOf, openTransaction } from '#service/interpreter/traces.ts';
import type { StoredTransaction } from '#service/store/interpreted-rows.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { cpuMs, median, type Bench, type BenchResult } from './bench.ts';

const GOALS = { simple: 3_000, dex: 300 };

/** Each counts as the median of so many passes. */
const PASSES = 7;

/** Classifications of each recorded trace in a pass: the kernel counts CPU time in steps of up to 4 ms. */
const TIMES = 20;

/** Families of recorded traces that exchange tokens, put them into pools or take them out. */
const dexFamilies = /^(coffee|dedust|stonfi|tonco|tonstakers|evaa)/;

const nothing = interfacesOf(() => undefined);

type Known = { readonly trace: ClassifierTrace; readonly interfaces: Interfaces };

/** Stored traces of the recorded chain with more than a tick-tock transaction in them. */
async function storedTraces(): Promise<readonly { row: TraceRow; transactions: StoredTransaction[] }[]> {
  const rows = (await recordedBlocks()).map(rowsOf);
  const { traces, transactions } = assembleTraces(rows);
  const byTrace = Map.groupBy(transactions, ({ trace_id }) => hashKey(trace_id));
  return traces
    .map((row) => ({
      row,
      transactions: (byTrace.get(hashKey(row.trace_id)) ?? []).map((one) => ({ ...one, boc: Buffer.from(one.boc) })),
    }))
    .filter(({ row }) => row.external_hash !== null);
}

/** From the stored row to rows of actions, as the interpreter does it. */
function tell({ row, transactions }: { row: TraceRow; transactions: StoredTransaction[] }): number {
  const trace = eventTraceOf(row, transactions.map(openTransaction));
  return traceMeaning(trace, classify(trace, nothing), 1).actions.length;
}

function tellKnown({ trace, interfaces }: Known): number {
  return traceMeaning(trace, classify(trace, interfaces), 1).actions.length;
}

async function msEach<T>(items: readonly T[], work: (item: T) => unknown, times = 1): Promise<number> {
  const pass = (): Promise<number> =>
    cpuMs(items.length * times, () => {
      for (let time = 0; time < times; time++) for (const item of items) work(item);
    });
  await pass();
  const passes: number[] = [];
  for (let count = 0; count < PASSES; count++) passes.push(await pass());
  return median(passes);
}

function rate(name: string, msOfOne: number, goal?: number): BenchResult {
  const value = 1000 / msOfOne;
  return {
    name,
    value,
    unit: 'traces/s of one core',
    ...(goal !== undefined && { goal: `>= ${goal}`, met: value >= goal }),
  };
}

/** Of a trace, on average. */
function meanSize(list: readonly Known[]): string {
  return (list.reduce((sum, { trace }) => sum + trace.transactions.length, 0) / list.length).toFixed(1);
}

async function recordedResults(): Promise<BenchResult[]> {
  const known = recordedTraceFiles().map(readRecordedTrace);
  if (known.length === 0) return [];
  const dex = known.filter(({ name }) => dexFamilies.test(name));
  return [
    rate(
      `recorded traces of exchanges and lending (${dex.length}, ${meanSize(dex)} transactions each), classified and made rows`,
      await msEach(dex, tellKnown, TIMES),
      GOALS.dex,
    ),
    rate(
      `all recorded mainnet traces (${known.length}, ${meanSize(known)} transactions each), the same`,
      await msEach(known, tellKnown, TIMES),
    ),
  ];
}

/** CPU of the ledger's rows and traces against that of their actions, over the same blocks. */
async function shareOfPipeline(): Promise<BenchResult> {
  const blocks = await recordedBlocks();
  const stored = await storedTraces();
  const ledger: number[] = [];
  const told: number[] = [];
  for (let pass = 0; pass < PASSES; pass++) {
    ledger.push(await cpuMs(1, () => void assembleTraces(blocks.map(rowsOf))));
    told.push(await cpuMs(1, () => stored.forEach(tell)));
  }
  return {
    name: 'share of actions in the CPU of rows, traces and actions of the recorded chain (without Postgres and get-methods)',
    value: (100 * median(told)) / (median(told) + median(ledger)),
    unit: '%',
  };
}

export const bench: Bench = {
  about:
    'Traces told as actions on one core: of the recorded chain from their stored transactions, of mainnet with what is known of their accounts; and their share of the CPU of indexing',
  async run() {
    const stored = await storedTraces();
    const nodes = stored.reduce((sum, { row }) => sum + row.nodes, 0) / stored.length;
    const simple = rate(
      `simple traces of the recorded chain (${stored.length}, ${nodes.toFixed(1)} transactions each), read, classified and made rows`,
      await msEach(stored, tell),
      GOALS.simple,
    );
    return [simple, ...(await recordedResults()), await shareOfPipeline()];
  },
};
