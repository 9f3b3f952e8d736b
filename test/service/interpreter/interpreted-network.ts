import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDetector, type Detector } from '#service/interfaces/detector.ts';
import { createChainSnapshots, type ChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import type { Pool } from '#service/pool/pool.ts';

const now = (): number => performance.now();

/** Where accounts of a network are looked into. */
export type LookInto = {
  readonly worlds: ChainSnapshots;
  /** One that has met no contract yet. */
  readonly newDetector: () => Detector;
  readonly close: () => Promise<void>;
};

export function lookInto(pool: Pool): LookInto {
  const tvm = createTvm({ workers: 1 }, { register: new Registry(), logger: pino({ level: 'silent' }), now });
  return {
    worlds: createChainSnapshots({ trust: 'verified' }, { pool, tvm, now }),
    newDetector: () => createDetector({ network: 'custom' }, { register: new Registry() }),
    close: () => tvm.close(),
  };
}
