import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { LiveBlocks } from '#service/live/blocks/blocks.ts';
import type { LiveConfiguration } from '#service/live/configuration/configuration.ts';
import { createLiveBlocks } from '#service/live/blocks/live-blocks.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { openPool, patientTuning, startNetwork, until, within } from '../pool/network.ts';
import type { Faults, PoolUnderTest } from '../pool/network.ts';

type Reader = LiveBlocks & LiveConfiguration;
type Read = (read: Reader, context: ReadContext) => Promise<LiveAnswer<unknown>>;

const basechain = { workchain: 0, shard: 0x8000000000000000n };

/** Each function that blocks and the configuration are read by, with a read that needs it. */
const reads: readonly (readonly [fn: string, read: Read])[] = [
  ['lookupBlockWithProof', (read, context) => read.findBlock(basechain, { by: 'seqno', seqno: 20 }, context)],
  ['lookupBlockWithProof', (read, context) => read.findBlock(basechain, { by: 'lt', lt: 15_000_000n }, context)],
  ['getAllShardsInfo', (read, context) => read.readShards(300, context)],
  ['getBlockProof', (read, context) => read.readSignatures(300, context)],
  ['lookupBlock', (read, context) => read.readSignatures(301, context)],
  ['getShardBlockProof', (read, context) => read.readShardBlockProof(basechain, 20, 400, context)],
  ['getBlockProof', (read, context) => read.readShardBlockProof(basechain, 20, 401, context)],
  ['getBlockOutMsgQueueSize', (read, context) => read.readQueueSizes(context)],
  ['getConfigParams', (read, context) => read.readParam(34, 300, context)],
  ['getConfigAll', (read, context) => read.readAll(300, context)],
  ['getLibrariesWithProof', (read, context) => read.readLibraries([Buffer.alloc(32, 1)], context)],
];
const ways: readonly (readonly [string, Faults])[] = [
  ['answers about another block', { wrongId: true }],
  ['proofs of something else', { proof: 'wrongHash' }],
  ['a forged stored hash', { proof: 'storedHash' }],
  ['a missing cell', { proof: 'missingCell' }],
];
const forgeries = reads.flatMap(([fn, read], index) =>
  ways.map(([way, faults]) => ({ fn, way, read, index, faults: { ...faults, only: [fn] } })),
);

const signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });

function reader(pool: Pool): Reader {
  return { ...createLiveBlocks({ pool, signatures, toUnixMs: Number }), ...createLiveConfiguration({ pool }) };
}

let network: Devchain;
let honest: PoolUnderTest;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(3);
  honest = openPool(network, { use: [2], tuning: patientTuning });
  await until(() => honest.pool.ready());
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(async () => {
  await honest.close();
  await signatures.close();
  await network.close();
});

describe('blocks and configuration are right with two of three lite servers forging', () => {
  test.each(forgeries)('$fn: $way ($index)', async ({ read, faults }) => {
    const expected = await read(reader(honest.pool), within(60_000));
    await Promise.all([0, 1].map((index) => network.liteServers[index]!.setFaults(faults)));
    open = openPool(network, { tuning: patientTuning });
    const { pool } = open;
    await until(() => pool.ready());
    expect((await read(reader(pool), within(60_000))).value).toEqual(expected.value);
    expect(pool.status()[2]).toMatchObject({ phase: 'in', misbehaviours: 0 });
  });
});
