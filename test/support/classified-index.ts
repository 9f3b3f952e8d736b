import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDetector } from '#service/interfaces/detector.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { createChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { countInterpretations } from '#service/store/interpretations.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { startInterpreter, untilInterpreted } from '../service/interpreter/interpreter-under-test.ts';
import { openPool, startNetwork } from '../service/pool/network.ts';
import { makeRecordedIndex } from './recorded-index.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from './store.ts';
import { makeTemplate } from './templates.ts';

/** Databases made once for a run of tests: the recorded chain of which the interpreter has classified half, and all. */
const templates = { half: 'half_classified_index', whole: 'classified_index' } as const;

const now = (): number => performance.now();

/** Time to classify all blocks of the recording, by the emulator on two cores that others use as well. */
const CLASSIFY_MS_MAX = 240_000;

/**
 * A store with the index of the whole recorded chain, and with the interpreter's contracts, transfers and actions from proved states.
 * A copy of its own for a test file.
 */
export async function createClassifiedIndex(testFile: string): Promise<StoreUnderTest> {
  await makeTemplate(templates.whole, (url) => classify(url, 0), await makeHalfClassified());
  return createStoreUnderTest(testFile, {}, templates.whole);
}

/** A store as `createClassifiedIndex`, whose interpreter stopped in the middle of the chain. A copy of its own for a test file. */
export async function createHalfClassifiedIndex(testFile: string): Promise<StoreUnderTest> {
  return createStoreUnderTest(testFile, {}, await makeHalfClassified());
}

async function makeHalfClassified(): Promise<string> {
  await makeTemplate(templates.half, (url) => classify(url, 0.5), await makeRecordedIndex());
  return templates.half;
}

/** @param share of the blocks that may be left when the interpreter stops */
async function classify(url: string, share: number): Promise<void> {
  const network = await startNetwork(1, { startBehindBlocks: 0 });
  const opening = openPool(network);
  const { pool } = opening;
  const tvm = createTvm({ workers: 2 }, { register: new Registry(), logger: pino({ level: 'silent' }), now });
  const worlds = createChainSnapshots({ trust: 'verified' }, { pool, tvm, now });
  const detector = createDetector({ network: 'custom' }, { register: new Registry() });
  const store = openStore({ url });
  const interpreter = startInterpreter(store, { worlds, detector });
  try {
    const { todo } = await countInterpretations(store, INTERPRETATION_VERSION);
    await untilInterpreted(store, INTERPRETATION_VERSION, CLASSIFY_MS_MAX, todo * share);
    await store.transaction(({ query }) => query('ANALYZE'));
  } finally {
    await interpreter.close();
    await store.close();
    await opening.close();
    await tvm.close();
    await network.close();
  }
}
