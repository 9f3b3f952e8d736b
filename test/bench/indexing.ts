import { setTimeout as sleep } from 'node:timers/promises';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import { setGcFlags } from '#service/main/v8-flags.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { BlockRows } from '#service/store/tables.ts';
import type { TraceRows } from '#service/store/trace-rows.ts';
import type { Bench, BenchResult } from './bench.ts';
import { openMainnetBlocks, openRecordedChain, type LocalSource } from './indexing/local-source.ts';
import { openPipeline, type Pipeline } from './indexing/pipeline.ts';
import { startInterpreting } from './indexing/interpreting.ts';

const GOALS = { decoded: 60_000, plain: 10_000, traced: 7_000, blocks: 50, interpreted: 5_000 };

const WARM_UP_MS = 4_000;
const MEASURED_MS = 12_000;

/** Some batches: a busy machine takes longer for them. */
const BLOCKS_MIN = 300;

/** Some 100,000 transactions: of twenty seconds, those of the first rows and of the last actions alone are few. */
const INTERPRETED_BLOCKS = 900;
/** Of all blocks: an indexer runs for hours, and code that was called for less than a second is not what it runs. */
const WARM_PASSES = 20;
const DECODED_PASSES = 40;

type Figures = {
  readonly transactions: number;
  readonly blocks: number;
  readonly peakRssBytes: number;
  /** Of one transaction, in microseconds: what is left of the pace when the machine does other things too. */
  readonly indexerCpuUs: number;
  readonly serverCpuUs: number;
};

/** What the pipeline writes in a second, on an index that has begun to fill. */
async function measureWriting(
  local: LocalSource,
  assemble: (rows: readonly BlockRows[]) => TraceRows,
): Promise<Figures> {
  const pipeline = await openPipeline({ local, assemble });
  try {
    await sleep(WARM_UP_MS);
    await untilWritten(pipeline, 1);
    const before = { ...pipeline.written(), ms: performance.now(), server: await pipeline.serverCpuSeconds() };
    const cpuBefore = process.cpuUsage();
    let peakRssBytes = 0;
    const enough = before.blocks + BLOCKS_MIN;
    while (performance.now() < before.ms + MEASURED_MS || pipeline.written().blocks < enough) {
      await sleep(200);
      peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
    }
    const after = pipeline.written();
    const seconds = (performance.now() - before.ms) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const server = (await pipeline.serverCpuSeconds()) - before.server;
    const count = Math.max(1, after.transactions - before.transactions);
    return {
      transactions: (after.transactions - before.transactions) / seconds,
      blocks: (after.blocks - before.blocks) / seconds,
      peakRssBytes,
      indexerCpuUs: (user + system) / count,
      serverCpuUs: (server * 1e6) / count,
    };
  } finally {
    await pipeline.close();
  }
}

async function untilWritten(pipeline: Pipeline, blocks: number): Promise<void> {
  while (pipeline.written().blocks < blocks) await sleep(100);
}

/** Measures ledger, traces, transfers and actions of blocks, from the first read to the last action. Get-methods are left out, because lite servers and the emulator decide their speed. */
async function measureInterpreting(
  local: LocalSource,
): Promise<{ transactions: number; actions: number; waitShare: number }> {
  const pipeline = await openPipeline({ local, assemble: assembleTraces, blocks: INTERPRETED_BLOCKS });
  const startMs = performance.now();
  const interpreting = startInterpreting(pipeline.store);
  try {
    await untilWritten(pipeline, INTERPRETED_BLOCKS);
    const writtenMs = performance.now();
    await interpreting.done();
    const seconds = (performance.now() - startMs) / 1000;
    return {
      transactions: pipeline.written().transactions / seconds,
      actions: (await interpreting.actions()) / seconds,
      waitShare: 1 - (writtenMs - startMs) / 1000 / seconds,
    };
  } finally {
    await interpreting.close();
    await pipeline.close();
  }
}

/** Leaves out complete traces. The next batch needs the traces with open messages to recognise their continuations. */
function withoutTraces(blocks: readonly BlockRows[]): TraceRows {
  const all = assembleTraces(blocks);
  const open = new Set(all.openEdges.map(({ trace_id }) => hashKey(trace_id)));
  return { ...all, traces: all.traces.filter(({ trace_id }) => open.has(hashKey(trace_id))), traceAccounts: [] };
}

/** Rows of blocks alone, by one thread that has run for a second or two; its collections and compilers count. */
async function measureDecoding({ length, source }: LocalSource): Promise<BenchResult> {
  const { signal } = new AbortController();
  const blocks = await Promise.all(Array.from({ length }, (_, index) => source.read(index + 1, signal)));
  const pass = (): number => blocks.reduce((sum, one) => sum + rowsOf(one).transactions.length, 0);
  for (let warm = 0; warm < WARM_PASSES; warm++) pass();
  const before = process.cpuUsage();
  let transactions = 0;
  for (let turn = 0; turn < DECODED_PASSES; turn++) transactions += pass();
  const used = process.cpuUsage(before);
  const value = transactions / ((used.user + used.system) / 1e6);
  return atLeast('', value, 'transactions/s of CPU', GOALS.decoded);
}

function atLeast(name: string, value: number, unit: string, goal: number): BenchResult {
  return { name, value, unit, goal: `>= ${goal} ${unit}`, met: value >= goal };
}

async function run(): Promise<BenchResult[]> {
  // As the indexer has it.
  setGcFlags();
  const recorded = await openRecordedChain();
  const dense = (await openMainnetBlocks()) ?? recorded;
  const what = dense === recorded ? 'the recorded chain' : "mainnet's blocks";
  const decoded = await measureDecoding(dense);
  const plain = await measureWriting(dense, withoutTraces);
  const traced = await measureWriting(dense, assembleTraces);
  const sparse = await measureWriting(recorded, assembleTraces);
  const interpreted = await measureInterpreting(dense);
  const rssBytes = Math.max(plain.peakRssBytes, traced.peakRssBytes, sparse.peakRssBytes);
  return [
    { ...decoded, name: `rows of ${what}, decoded by one core` },
    atLeast(`${what} into Postgres, without traces`, plain.transactions, 'transactions/s', GOALS.plain),
    atLeast(`${what} into Postgres, with traces`, traced.transactions, 'transactions/s', GOALS.traced),
    atLeast(`${what} into Postgres, with traces: blocks`, traced.blocks, 'masterchain blocks/s', GOALS.blocks),
    { name: 'the recorded chain into Postgres, with traces', value: sparse.blocks, unit: 'masterchain blocks/s' },
    { name: 'the same, in transactions', value: sparse.transactions, unit: 'transactions/s' },
    atLeast(
      `${what} into Postgres, with transfers and actions`,
      interpreted.transactions,
      'transactions/s',
      GOALS.interpreted,
    ),
    { name: 'the same, in actions', value: interpreted.actions, unit: 'actions/s' },
    {
      name: 'share of that time after the ledger was written',
      value: interpreted.waitShare,
      unit: '',
    },
    { name: 'CPU of a transaction with traces, indexer', value: traced.indexerCpuUs, unit: 'us' },
    { name: 'CPU of a transaction with traces, Postgres', value: traced.serverCpuUs, unit: 'us' },
    { name: 'most memory of the indexer', value: rssBytes / 2 ** 20, unit: 'MiB' },
  ];
}

export const bench: Bench = {
  about:
    'blocks of a recorded chain, over and over, decoded in a thread and written into an empty Postgres, all on this machine',
  nodeOptions: indexNodeOptions.split(' '),
  run,
};
