import { randomBytes } from 'node:crypto';

import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { createEmulate, type Emulate, type EmulateOperation } from '#service/emulate/emulate.ts';
import { emulateTonConnectOperation } from '#service/emulate/operations/emulate-ton-connect.ts';
import { emulateTraceOperation } from '#service/emulate/operations/emulate-trace.ts';
import { createTraceAnswers } from '#service/emulate/trace-answers.ts';
import type { EmulateIndex } from '#service/emulate/views/annotations.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { Live } from './live.ts';

export type EmulateParts = {
  readonly pool: Pick<Pool, 'head'>;
  readonly live: Pick<Live, 'worlds'>;
  readonly detector: Detector;
  /** Absent: names and tokens are unknown. */
  readonly index: EmulateIndex | undefined;
  readonly register: Registry;
  /** Changes how operations run. */
  readonly around: ((operation: EmulateOperation) => EmulateOperation) | undefined;
};

/** Creates the emulation; undefined when it is not served. */
export function createEmulation(
  { surfaces, network }: Pick<ServiceConfig, 'surfaces' | 'network'>,
  { pool, live, detector, index, register, around = (operation) => operation }: EmulateParts,
): Emulate | undefined {
  if (!surfaces.includes('emulate')) return undefined;
  const answers = createTraceAnswers(
    { testOnly: network === 'testnet' },
    {
      snapshots: live.worlds,
      detector,
      index,
      headSeqno: () => pool.head()?.block.seqno,
      randomBytes,
      register,
      now: () => performance.now(),
    },
  );
  return createEmulate([emulateTraceOperation(answers), emulateTonConnectOperation(answers)].map(around));
}
