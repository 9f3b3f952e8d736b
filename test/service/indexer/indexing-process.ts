import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { FULL_SHARD } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { createStore } from '#service/store/store.ts';
import { openPool } from '../pool/network.ts';
import { patientPool, startIndexer } from './index-under-test.ts';
import { filesOver } from './recording.ts';

// A process that indexes the recorded network until it is killed: URL of Postgres and what it needs of the network as arguments.

type Network = {
  readonly zero: { readonly rootHash: Buffer; readonly fileHash: Buffer };
  readonly liteServers: readonly { readonly host: string; readonly port: number; readonly publicKey: Buffer }[];
};

const [, , url = '', network = ''] = process.argv;

// Nor does it outlive who started it.
process.stdin.once('end', () => process.exit()).resume();

/** Bytes are what `Buffer` makes of itself in JSON. */
const { zero, liteServers } = JSON.parse(network, (_, value: unknown) =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
    ? Buffer.from((value as unknown as { data: number[] }).data)
    : value,
) as Network;

const { pool } = openPool(
  { liteServers, chain: { zeroStates: [{ id: { ...zero, shard: FULL_SHARD } }] } } as unknown as Devchain,
  {
    tuning: patientPool,
  },
);
const store = createStore(
  { url, schema: 'ton', poolSize: 4, statementTimeoutMs: 5_000 },
  {
    logger: pino({ level: 'silent' }),
    register: new Registry(),
    tracer: trace.getTracer('test'),
    clock: () => performance.now(),
  },
);
const small = { itemsMax: 4, bytesMax: 1e6 };
startIndexer(store, filesOver(pool), {
  network: zero,
  worker: `process ${process.pid}`,
  tuning: { headBatch: small, backfillBatch: small, gapBlocksMax: process.pid % 2 === 0 ? 50 : 10_000 },
});
