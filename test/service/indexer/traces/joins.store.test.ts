import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { InsertMode } from '#service/store/insert.ts';
import type { Store } from '#service/store/store.ts';
import type { BlockRows } from '#service/store/tables.ts';
import type { Writer, WriteTurn } from '#service/store/writer.ts';
import { createWriter } from '#service/store/writer.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { messageGraph, shuffledBatches } from './message-graphs.ts';
import type { TraceTables } from './stored-traces.ts';
import { tablesOf } from './stored-traces.ts';

const anyTurn: WriteTurn = { advance: async () => {} };

let tested: StoreUnderTest;
let writers: readonly Writer[];

const writerOn = (store: Store, carriage: InsertMode): Writer =>
  createWriter({ carriage, assemble: assembleTraces }, store);

beforeAll(async () => {
  tested = await createMigratedStore(import.meta.filename);
  writers = (['copy', 'unnest', 'copy'] as const).map((carriage) => writerOn(tested.store, carriage));
});

afterAll(() => tested.close());

async function readTables(store: Store): Promise<TraceTables> {
  return tablesOf({
    transactions: await store.read('SELECT hash, trace_id FROM transactions'),
    traces: await store.read('SELECT * FROM traces'),
    traceAccounts: await store.read('SELECT * FROM trace_accounts'),
    openEdges: await store.read('SELECT * FROM open_edges'),
  });
}

/** Several writers take batches from one list, each as soon as it is free. */
async function writeAll(batches: readonly (readonly BlockRows[])[]): Promise<void> {
  const left = [...batches];
  const work = async (writer: Writer): Promise<void> => {
    for (let batch = left.shift(); batch !== undefined; batch = left.shift()) await writer.write(batch, anyTurn);
  };
  await Promise.all(writers.map(work));
}

it('three writers at once leave the same traces in Postgres whatever the batches and their order', async () => {
  const cases = messageGraph.chain((blocks) => fc.tuple(fc.constant(blocks), shuffledBatches(blocks)));
  await fc.assert(
    fc.asyncProperty(cases, async ([blocks, batches]) => {
      await tested.store.transaction(async ({ query }) => {
        await query('TRUNCATE blocks, transactions, traces, trace_accounts, open_edges');
      });
      await writeAll(batches);
      expect(await readTables(tested.store)).toEqual(tablesOf(assembleTraces(blocks)));
    }),
    { seed: 11, numRuns: 40, endOnFailure: true },
  );
});
