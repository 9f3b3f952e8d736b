import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { depthKinds } from '#service/pool/depth.ts';
import { forgetful } from './forgetful.ts';
import { metric, openPool, patientTuning, startNetwork, until } from './network.ts';
import { drawKeeps, readOld } from './old-reads.ts';
import { seededRandom } from './workload.ts';
import { someOf } from '#test/support/volume.ts';

const SERVERS = 5;

let network: Devchain;
beforeAll(async () => {
  network = await startNetwork(SERVERS);
});
afterAll(() => network.close());

describe('reads of old blocks and states, of the masterchain and of shards', () => {
  test.each(someOf([1, 2, 3], 1))(
    'old reads go first to a lite server that has the data, at least 99 of 100, and none fails: seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const keeps = drawKeeps(random, network.head().id.seqno, SERVERS);
      const open = openPool(network, {
        tuning: { ...patientTuning, depthFirstMs: 10, depthMs: 60_000 },
        wrap: (server) => forgetful(network, server, keeps[Number(server.name.slice(2))]!),
      });
      const { pool, register } = open;
      try {
        await until(() => pool.status().every(({ depth }) => depthKinds.every((kind) => depth[kind] !== undefined)));
        const count = () => metric(register, 'ton_pool_attempts_total');
        const before = await count();
        const reads = 1_000;
        for (let turn = 0; turn < reads; turn += 1) await readOld(network, pool, random);
        expect((await count()) - before).toBeLessThanOrEqual(reads * 1.01);
      } finally {
        await open.close();
      }
    },
  );
});
