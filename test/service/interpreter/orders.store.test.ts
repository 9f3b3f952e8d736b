import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Detector } from '#service/interfaces/detector.ts';
import { INTERPRETATION_VERSION, type InterpretationVersions } from '#service/interpreter/options.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { startIndexer, untilIndexed } from '../indexer/index-under-test.ts';
import { openRecordedNetwork, type RecordedNetwork } from '../indexer/recorded-network.ts';
import { meaningHashes, tableHashes } from '../indexer/table-hashes.ts';
import { lookInto, type LookInto } from './interpreted-network.ts';
import { startInterpreter, untilInterpreted } from './interpreter-under-test.ts';

let network: RecordedNetwork;
let looks: LookInto;
let classified: StoreUnderTest;
/** Hashes of results whose ledger was whole before the first interpretation. */
let inOrder: Record<string, string>;

beforeAll(async () => {
  network = await openRecordedNetwork(import.meta.filename);
  looks = lookInto(network.pool);
  classified = await createClassifiedIndex(import.meta.filename);
  inOrder = await meaningHashes(classified.store);
}, 360_000);

afterAll(async () => {
  await looks.close();
  await network.close();
  await classified.close();
});

const knowing = (): { worlds: LookInto['worlds']; detector: Detector } => ({
  worlds: looks.worlds,
  detector: looks.newDetector(),
});

describe('the interpretation of blocks', () => {
  test('is the same while the past is still written, in small ranges and newest first', async () => {
    const made = await network.newStore();
    const { store } = made;
    const indexer = startIndexer(store, network.files, {
      network: network.zero,
      tuning: {
        gapBlocksMax: 10,
        backfillWorkers: 2,
        backfillBatch: { itemsMax: 7, bytesMax: 1e6 },
        headBatch: { itemsMax: 1, bytesMax: 1e6 },
      },
    });
    const interpreters = [3, 16].map((blocksMax) =>
      startInterpreter(made.another(), { ...knowing(), tuning: { blocksMax } }),
    );
    await untilIndexed(store, network.last, 240_000);
    await untilInterpreted(store, INTERPRETATION_VERSION, 240_000);
    await Promise.all([indexer, ...interpreters].map((one) => one.close()));
    expect(await tableHashes(store)).toEqual(await tableHashes(classified.store));
    expect(await meaningHashes(store)).toEqual(inOrder);
  }, 360_000);
});

const newer = INTERPRETATION_VERSION + 1;

/** Versions of an interpreter in which all parts have changed. */
const allNewer = (version: number): InterpretationVersions => ({
  facts: version,
  newest: version,
  whole: version,
  partial: [],
});

const versions = (store: Store): Promise<{ version: number; count: bigint }[]> =>
  store.read('SELECT version, count(*) FROM trace_classifications GROUP BY version ORDER BY version');

describe('a newer version of the interpreter', () => {
  test('interprets all blocks again while older results are served, and continues after a stop', async () => {
    const { store } = classified;
    const before = await meaningHashes(store);
    const traces = (await versions(store))[0]!.count;
    const tuning = { againMax: 40, blocksMax: 8 };
    const first = startInterpreter(store, { ...knowing(), versions: allNewer(newer), tuning });
    await expect.poll(async () => (await versions(store)).length).toBe(2);
    await first.close();
    const left = await countInterpretations(store, newer);
    expect(left.todo + left.older).toBeGreaterThan(0);
    // Nothing is missing in between.
    expect(await meaningHashes(store)).toEqual(before);
    expect((await versions(store)).reduce((sum, { count }) => sum + count, 0n)).toBe(traces);

    const second = startInterpreter(store, { ...knowing(), versions: allNewer(newer), tuning });
    await untilInterpreted(store, newer, 240_000);
    expect(second.status()).toMatchObject({ olderBlocks: 0 });
    await second.close();
    expect(await versions(store)).toEqual([{ version: newer, count: traces }]);
    expect(await meaningHashes(store)).toEqual(before);
  }, 360_000);

  test('replaces results that differ', async () => {
    const { store } = classified;
    const unknowing: Detector = { detect: () => Promise.resolve(undefined) };
    const interpreter = startInterpreter(store, {
      worlds: looks.worlds,
      detector: unknowing,
      versions: allNewer(newer + 1),
    });
    await untilInterpreted(store, newer + 1, 240_000);
    await interpreter.close();
    const [counts] = await store.read(
      `SELECT (SELECT count(*) FROM jetton_transfers) + (SELECT count(*) FROM nft_transfers) AS transfers,
         (SELECT count(*) FROM actions WHERE type = 'jetton_transfer') AS actions,
         (SELECT count(*) FROM action_accounts LEFT JOIN actions USING (trace_id, action_id) WHERE actions.type IS NULL) AS strays`,
    );
    expect(counts).toEqual({ transfers: 0n, actions: 0n, strays: 0n });
  }, 360_000);
});
