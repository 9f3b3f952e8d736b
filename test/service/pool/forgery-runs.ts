import { isDeepStrictEqual } from 'node:util';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createLive } from '#service/main/wiring/live.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { querySource } from '#service/contract/parameter.ts';
import { createV2 } from '#service/v2/v2.ts';
import type { V2 } from '#service/v2/v2.ts';
import { openPool, patientTuning, signatures, until, within } from './network.ts';
import type { Faults } from './network.ts';

/** Ways to forge an answer (service/liteserver/README.md#faults), and single bits anywhere in it. */
const ways: Readonly<Record<string, Faults>> = {
  'another block': { wrongId: true },
  'a proof of something else': { proof: 'wrongHash' },
  'a proof that stores the right hash': { proof: 'storedHash' },
  'a proof without a cell': { proof: 'missingCell' },
  ...Object.fromEntries(
    [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.999].map((at) => [
      `another bit at ${at * 100} %`,
      { alteredAt: at },
    ]),
  ),
};

/** Result of one forgery. `harmless`: the answer was accepted, and is right. */
export type ForgeryRun = {
  readonly functionName: string;
  readonly way: string;
  readonly outcome: 'refused' | 'harmless' | 'accepted';
  /** Code of the refusal. */
  readonly code?: string;
};

/** Forges every proved answer in every way. Each is read through the operations of v2 by a pool of one lite server of the network. */
export async function runForgeries(network: Devchain): Promise<ForgeryRun[]> {
  const quiet = { logger: pino({ level: 'silent' }), register: new Registry() };
  const workerUrl = new URL('../../../service/tvm/worker.ts', import.meta.url);
  const tvm = createTvm({ workerUrl }, { ...quiet, now: () => performance.now() });
  const liveOf = (pool: Pool): V2 =>
    createV2({ release: 0 }, createLive({ trust: 'verified', network: 'custom' }, { pool, signatures, tvm }));

  /** Returns the operation's answer from a pool of its own with an empty cache. */
  async function ask(name: string, query: string, faults: Faults, index = 0): Promise<unknown> {
    const liteServer = network.liteServers[index]!;
    const open = openPool(network, { use: [index], tuning: patientTuning });
    const { pool } = open;
    try {
      await until(() => pool.ready());
      await liteServer.setFaults(faults);
      const source = querySource(new URLSearchParams(query));
      return (await liveOf(pool).find(name)!.run(source, within(60_000))).value;
    } finally {
      await liteServer.setFaults({});
      await open.close();
    }
  }

  const reads = await findReads(network, ask);

  /** Each lite server forges the answers to some of the reads. */
  async function forge(index: number): Promise<ForgeryRun[]> {
    const runs: ForgeryRun[] = [];
    for (const { functionName, name, query } of reads.filter((_, at) => at % network.liteServers.length === index)) {
      const honest = await ask(name, query, {}, index);
      for (const [way, faults] of Object.entries(ways)) {
        const run = await ask(name, query, { ...faults, only: [functionName] }, index).then(
          (value) => ({ outcome: isDeepStrictEqual(value, honest) ? 'harmless' : 'accepted' }) as const,
          (error: unknown) =>
            ({ outcome: 'refused', code: String((error as { code?: string }).code ?? error) }) as const,
        );
        runs.push({ functionName, way, ...run });
      }
    }
    return runs;
  }

  const runs = (await Promise.all(network.liteServers.map((_, index) => forge(index)))).flat();
  await tvm.close();
  return runs;
}

/** Returns an operation for each lite-server function whose answer is proved. */
async function findReads(
  network: Devchain,
  ask: (name: string, query: string, faults: Faults) => Promise<unknown>,
): Promise<{ functionName: string; name: string; query: string }[]> {
  const head = network.head();
  const { seqno } = head.id;
  const place = 'workchain=-1&shard=-9223372036854775808';
  const shard = head.shards[0]!.block;
  const shardPlace = `workchain=0&shard=${BigInt.asIntN(64, shard.shard)}`;
  const listed = (await ask('getBlockTransactions', `${place}&seqno=${seqno}&count=1`, {})) as {
    transactions: { account: string; lt: string; hash: string }[];
  };
  const { account, lt, hash } = listed.transactions[0]!;
  const from = `lt=${lt}&hash=${encodeURIComponent(hash)}`;
  const rows: [functionName: string, name: string, query: string][] = [
    ['getAccountState', 'getAddressInformation', `address=${account}`],
    ['getAccountState', 'getAddressInformation', `address=0:${'1'.repeat(64)}`],
    ['getTransactions', 'getTransactions', `address=${account}&limit=3&${from}`],
    ['getConfigParams', 'getConfigParam', 'config_id=34'],
    ['getConfigAll', 'getConfigAll', ''],
    ['getLibrariesWithProof', 'getLibraries', `libraries=${'ab'.repeat(32)}`],
    ['lookupBlock', 'getAddressInformation', `address=${account}&seqno=${seqno - 50}`],
    ['lookupBlockWithProof', 'lookupBlock', `${place}&seqno=${seqno - 20}`],
    ['lookupBlockWithProof', 'lookupBlock', `${shardPlace}&seqno=${shard.seqno - 1}`],
    ['getBlockHeader', 'getBlockHeader', `${place}&seqno=${seqno - 20}&${hashesOf(network, seqno - 20)}`],
    ['getAllShardsInfo', 'getShards', `seqno=${seqno - 20}`],
    ['getShardBlockProof', 'getShardBlockProof', `${shardPlace}&seqno=${shard.seqno - 1}`],
    ['getBlockProof', 'getMasterchainBlockSignatures', `seqno=${seqno - 20}`],
    ['listBlockTransactions', 'getBlockTransactions', `${place}&seqno=${seqno}&count=3`],
    ['listBlockTransactionsExt', 'getBlockTransactionsExt', `${place}&seqno=${seqno}&count=3`],
    ['getBlockOutMsgQueueSize', 'getOutMsgQueueSize', ''],
  ];
  return rows.map(([functionName, name, query]) => ({ functionName, name, query }));
}

function hashesOf({ chain }: Devchain, seqno: number): string {
  const { rootHash, fileHash } = chain.masterchain(seqno)!.id;
  return `root_hash=${rootHash.toString('hex')}&file_hash=${fileHash.toString('hex')}`;
}
