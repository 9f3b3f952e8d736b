import { openStore } from '#test/support/store.ts';
import { openAsProcess } from '../indexer/crashes.ts';
import { lookInto } from './interpreted-network.ts';
import { startInterpreter } from './interpreter-under-test.ts';

// A process that tells what the indexed blocks of the recorded network mean until it is killed.

const { url, pool } = openAsProcess();
const { worlds, newDetector } = lookInto(pool);
startInterpreter(openStore({ url }), { worlds, detector: newDetector(), tuning: { blocksMax: 8, claimMs: 1_000 } });
