import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import { openStore, type StoreUnderTest } from '#test/support/store.ts';
import { countOf, volume } from '#test/support/volume.ts';
import { createHalfClassifiedIndex, createClassifiedIndex } from '#test/support/classified-index.ts';
import { cutConnections, runAndKill } from '../indexer/crashes.ts';
import { openRecordedNetwork, type RecordedNetwork } from '../indexer/recorded-network.ts';
import { meaningHashes } from '../indexer/table-hashes.ts';
import { seededRandom } from '../pool/workload.ts';
import { lookInto, type LookInto } from './interpreted-network.ts';
import { startInterpreter, untilInterpreted } from './interpreter-under-test.ts';

/** Processes to kill, at some seconds each. */
const KILLED_PROCESSES = countOf({ quick: 1, full: 3, long: 100 });

/** Interpreters of this process whose connections to Postgres are all cut at once. */
const CUTS = countOf({ quick: 12, full: 60 });

let network: RecordedNetwork;
let looks: LookInto;
let undisturbed: Record<string, string>;
const opened: StoreUnderTest[] = [];

beforeAll(async () => {
  network = await openRecordedNetwork(import.meta.filename);
  looks = lookInto(network.pool);
  const classified = await createClassifiedIndex(import.meta.filename);
  opened.push(classified);
  undisturbed = await meaningHashes(classified.store);
}, 360_000);

afterAll(async () => {
  await looks.close();
  await network.close();
  for (const one of opened) await one.close();
});

/** The ledger of the recorded chain, none of it classified; in a quick run the first half is. */
async function newIndex(): Promise<StoreUnderTest> {
  const create = volume === 'quick' ? createHalfClassifiedIndex : createRecordedIndex;
  const made = await create(import.meta.filename);
  opened.push(made);
  return made;
}

/** Interprets the remaining blocks without disturbance. */
async function interpretRest(store: Store): Promise<void> {
  const interpreter = startInterpreter(store, { worlds: looks.worlds, detector: looks.newDetector() });
  await untilInterpreted(store, INTERPRETATION_VERSION, 240_000);
  await interpreter.close();
}

const leftOf = async (store: Store): Promise<number> =>
  (await countInterpretations(store, INTERPRETATION_VERSION)).todo;

describe('an interpreter that dies at any moment', () => {
  test(`writes each block's results whole and once: ${CUTS} cut connections`, async () => {
    const { store, url } = await newIndex();
    const random = seededRandom(22_112_026);
    let cuts = 0;
    for (; cuts < CUTS && (await leftOf(store)) > 0; cuts++) {
      const own = openStore({ url });
      const blocksMax = 1 + Math.floor(random() * 12);
      const interpreter = startInterpreter(own, {
        worlds: looks.worlds,
        detector: looks.newDetector(),
        // The next interpreter takes over at once.
        tuning: { blocksMax, claimMs: 1, workers: 1 + Math.floor(random() * 3) },
      });
      await sleep(random() * 250);
      await cutConnections(store);
      await interpreter.close();
      await own.close();
    }
    expect(cuts).toBeGreaterThan(CUTS / 2);
    await interpretRest(store);
    expect(await meaningHashes(store)).toEqual(undisturbed);
  }, 360_000);

  test(
    `writes each block's results whole and once: ${KILLED_PROCESSES} killed processes`,
    async () => {
      const { store, url } = await newIndex();
      const random = seededRandom(10);
      const all = await leftOf(store);
      const script = join(import.meta.dirname, 'interpreting-process.ts');
      for (let kills = 0; kills < KILLED_PROCESSES; kills++) {
        const wanted = (await leftOf(store)) - 1 - Math.floor((random() * all) / KILLED_PROCESSES);
        const isEnough = async (): Promise<boolean> => (await leftOf(store)) <= wanted;
        await runAndKill({ script, url, network, isEnough, moreMs: random() * 200 });
      }
      expect(await leftOf(store)).toBeGreaterThan(0);
      await interpretRest(store);
      expect(await meaningHashes(store)).toEqual(undisturbed);
    },
    360_000 + KILLED_PROCESSES * 20_000,
  );
});
