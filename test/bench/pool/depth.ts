import type { Devchain } from '#service/devchain/devchain.ts';
import { depthKinds } from '#service/pool/depth.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { forgetful, type Keeps } from '#test/service/pool/forgetful.ts';
import { metric, openPool, until } from '#test/service/pool/network.ts';
import { drawKeeps, readOld } from '#test/service/pool/old-reads.ts';
import { seededRandom, spoil } from '#test/service/pool/workload.ts';
import type { BenchResult } from '../bench.ts';
import { atMost, servers } from './scene.ts';

/** Reads of old blocks and states of all kinds. */
const reads = 2_000;

/** Blocks by which the edge of a lite server moves at once. */
const movedBlocks = 50;

const goalSeconds = 60;

/** At the service's own settings, each lite server with a history of its own: how often the first one asked has it, and how soon a moved edge is known. */
export async function measureDepth(network: Devchain): Promise<BenchResult[]> {
  for (let index = 0; index < servers; index += 1) await spoil(network, index, {});
  const random = seededRandom(6);
  const keeps = drawKeeps(random, network.head().id.seqno, servers);
  const keepsOf = (name: string): Keeps => keeps[Number(name.slice(2))]!;
  const open = openPool(network, {
    tuning: tuningDefaults,
    wrap: (server) => forgetful(network, server, keepsOf(server.name)),
  });
  const { pool, register } = open;
  const stateOf = (index: number): number => pool.status()[index]!.depth.masterchainState?.masterchain ?? 0;
  try {
    await until(() => pool.status().every(({ depth }) => depthKinds.every((kind) => kind in depth)), 60_000);
    const asked = () => metric(register, 'ton_pool_attempts_total');
    const [queriesBefore, hedgesBefore] = [
      await asked(),
      await metric(register, 'ton_pool_hedges_total', { event: 'fired' }),
    ];
    for (let turn = 0; turn < reads; turn += 1) await readOld(network, pool, random);
    const hedges = (await metric(register, 'ton_pool_hedges_total', { event: 'fired' })) - hedgesBefore;
    const more = (await asked()) - queriesBefore - hedges - reads;
    const part = (1 - more / reads) * 100;
    // Nobody reads there meanwhile: that the edge moved is found out by the pool's own questions.
    const edge = keeps[0]!.masterchainState + movedBlocks;
    const startedMs = performance.now();
    Object.assign(keeps[0]!, { masterchainState: edge, shardState: Math.max(edge, keeps[0]!.shardState) });
    await until(() => stateOf(0) === edge, 2 * goalSeconds * 1_000);
    const seconds = (performance.now() - startedMs) / 1_000;
    return [
      {
        name: `${reads} old reads: right at the first lite server`,
        value: part,
        unit: '%',
        goal: '>= 99 %',
        met: part >= 99,
      },
      atMost('an edge that moved, noticed without a read', seconds, 's', goalSeconds),
    ];
  } finally {
    await open.close();
  }
}
