import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { AccountStateRow, BlockRows } from '#service/store/tables.ts';
import { createWriter, type WriteTurn } from '#service/store/writer.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from './store.ts';
import { makeMigratedIndex, makeTemplate } from './templates.ts';

/** The index of the whole recorded chain, made once for a run of tests. */
const template = 'recorded_index';

const anyTurn: WriteTurn = { advance: async () => {} };

/** A store that holds the index of the whole recorded chain: a copy of its own for a test file. */
export async function createRecordedIndex(testFile: string): Promise<StoreUnderTest> {
  await makeRecordedIndex();
  return createStoreUnderTest(testFile, {}, template);
}

/** Makes the index that others are copies of, unless it is there. Gives its name. */
export async function makeRecordedIndex(): Promise<string> {
  await makeTemplate(template, fill, await makeMigratedIndex());
  return template;
}

/** The rows of the recorded chain, by masterchain block. */
export async function recordedRows(): Promise<readonly BlockRows[]> {
  return (await recordedBlocks()).map(rowsOf);
}

/** The states in some rows by their hash in base64, as views look them up. */
export function statesIn(rows: readonly BlockRows[]): ReadonlyMap<string, AccountStateRow> {
  return new Map(
    rows.flatMap(({ accountStates }) => accountStates.map((row) => [Buffer.from(row.hash).toString('base64'), row])),
  );
}

async function fill(url: string): Promise<void> {
  const store = openStore({ url });
  try {
    const writer = createWriter({ carriage: 'copy', assemble: assembleTraces }, store);
    await writer.write(await recordedRows(), anyTurn);
    await store.transaction(({ query }) => query('ANALYZE'));
  } finally {
    await store.close();
  }
}
