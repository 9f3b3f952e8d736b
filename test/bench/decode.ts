import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Cell, loadTransaction } from '@ton/core';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { coreTransactionCells } from '#test/service/decode/core-block.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import type { Bench, BenchResult } from './bench.ts';

const RATIO_GOAL = 50;
const HALF_MEGABYTE_MS_GOAL = 6;
/** A block of some half a megabyte counts for the goal in milliseconds. */
const HALF_MEGABYTE_BYTES_MIN = 450_000;

/** Reads a block, its transactions and messages whole, and hashes both. Returns how many there were. */
function decodeWithOurs(bytes: Buffer): number {
  const boc = parseBoc(bytes);
  let count = 0;
  for (const transaction of readBlockTransactions(boc, boc.roots[0]!)) {
    boc.hash(transaction.cell);
    count++;
    for (const message of [transaction.inMessage, ...transaction.outMessages]) {
      if (message === undefined) continue;
      boc.hash(message.cell);
      count++;
    }
  }
  return count;
}

/** The same with @ton/core, whose cells are hashed when they are made. */
function decodeWithCore(bytes: Buffer): number {
  let count = 0;
  for (const cell of coreTransactionCells(bytes)) {
    const transaction = loadTransaction(cell.beginParse());
    transaction.hash();
    count += 1 + (transaction.inMessage ? 1 : 0) + transaction.outMessages.size;
  }
  return count;
}

/** Batches and calls in each: the median batch counts. The kernel counts CPU time in steps of up to 4 ms: a batch is longer. */
type Runs = { readonly batches: number; readonly calls: number };

const OUR_RUNS: Runs = { batches: 9, calls: 30 };
const CORE_RUNS: Runs = { batches: 3, calls: 1 };

/** CPU time of one call in milliseconds, collection of garbage included: another process's load does not count. */
function cpuTimeMs({ batches, calls }: Runs, work: () => void): number {
  for (let warm = 0; warm < calls; warm++) work();
  const times = Array.from({ length: batches }, () => {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call++) work();
    const used = process.cpuUsage(before);
    return (used.user + used.system) / 1000 / calls;
  });
  return times.toSorted((one, other) => one - other)[batches >> 1]!;
}

function measureBlock(file: string): BenchResult {
  const bytes = readFileSync(file);
  const counts = [decodeWithOurs(bytes), decodeWithCore(bytes)];
  if (counts[0] !== counts[1]) throw new Error(`${basename(file)}: ${counts[0]} against ${counts[1]} things read`);
  const value = cpuTimeMs(OUR_RUNS, () => decodeWithOurs(bytes));
  const baseline = { name: '@ton/core', value: cpuTimeMs(CORE_RUNS, () => decodeWithCore(bytes)) };
  const ratio = baseline.value / value;
  const isLarge = bytes.length >= HALF_MEGABYTE_BYTES_MIN;
  return {
    name: `${basename(file)} (${Math.round(bytes.length / 1000)} kB, ${counts[0]} transactions and messages, hashed)`,
    value,
    unit: 'ms CPU',
    baseline,
    ratio,
    goal: isLarge ? `>= ${RATIO_GOAL}x and <= ${HALF_MEGABYTE_MS_GOAL} ms` : `>= ${RATIO_GOAL}x`,
    met: ratio >= RATIO_GOAL && (!isLarge || value <= HALF_MEGABYTE_MS_GOAL),
  };
}

/** Parse and all hashes: the least @ton/core can do with a bag. */
function measureAllHashes(file: string): BenchResult {
  const bytes = readFileSync(file);
  const value = cpuTimeMs(OUR_RUNS, () => {
    const boc = parseBoc(bytes);
    boc.hash(boc.roots[0]!);
  });
  const baseline = { name: '@ton/core', value: cpuTimeMs(CORE_RUNS, () => void Cell.fromBoc(bytes)) };
  return {
    name: `${basename(file)}, every cell hashed`,
    value,
    unit: 'ms CPU',
    baseline,
    ratio: baseline.value / value,
  };
}

/** What rebuilding states costs for each new cell: every cell of a block is hashed, copied and indexed. */
function measureStore(file: string): BenchResult {
  const bytes = readFileSync(file);
  const value = cpuTimeMs(OUR_RUNS, () => {
    const boc = parseBoc(bytes);
    const store = createCellStore();
    store.import(boc, boc.roots[0]!);
  });
  return { name: `${basename(file)}, copied into a cell store`, value, unit: 'ms CPU' };
}

export const bench: Bench = {
  about:
    'real mainnet blocks from bytes to transactions and messages with their hashes, against @ton/core in the same run',
  run: () => {
    const files = fixtureFiles(/\/(block|shard)-[^/]*\.boc$/);
    const largest = files.toSorted((a, b) => readFileSync(b).length - readFileSync(a).length)[0];
    if (largest === undefined) throw new Error('no recorded blocks: set TONPLANE_FIXTURES');
    // The first block must not pay for the compiler's learning.
    for (const bytes of files.map((file) => readFileSync(file))) {
      for (let warm = 0; warm < OUR_RUNS.calls; warm++) decodeWithOurs(bytes);
      decodeWithCore(bytes);
    }
    return Promise.resolve([...files.map(measureBlock), measureAllHashes(largest), measureStore(largest)]);
  },
};
