import { setTimeout as delay } from 'node:timers/promises';

import type { Devchain } from '#service/devchain/devchain.ts';
import { getMasterchainInfo } from '#service/liteserver/functions.ts';
import type { Faults } from '#test/service/pool/network.ts';
import { seededRandom } from '#test/service/pool/workload.ts';
import { quantile, type BenchResult } from '../bench.ts';
import { atMost, farMs, inScene, openBare } from './scene.ts';

/** How blocks come: so many, each so long after the one before was served. */
type Pace = { readonly blocks: number; readonly pauseMs: () => number };

/**
 * From the moment at which the lite servers are told to have a block to the one at which the pool serves it, proved; and to the one at
 * which a client without a pool, and without proof, hears of it.
 */
async function timeHeads(
  network: Devchain,
  faults: readonly Faults[],
  { blocks, pauseMs }: Pace,
): Promise<{ ms: number[]; bareMs: number[] }> {
  return inScene(network, faults, async ({ pool }) => {
    const bare = openBare(network);
    const ms: number[] = [];
    const bareMs: number[] = [];
    for (let block = 0; block < blocks; block += 1) {
      const seqno = network.head().id.seqno + 1;
      const heard = bare
        .query(getMasterchainInfo, {}, { timeoutMs: 5_000, waitMasterchain: { seqno, timeoutMs: 5_000 } })
        .then(() => performance.now());
      await delay(pauseMs());
      const startedMs = performance.now();
      network.moveHead(seqno);
      while (pool.head()!.block.seqno < seqno) await delay(1);
      ms.push(performance.now() - startedMs);
      bareMs.push((await heard) - startedMs);
    }
    await bare.close();
    return { ms, bareMs };
  });
}

const quantiles = [
  ['p50', 0.5],
  ['p95', 0.95],
] as const;

const slow = { transport: { delayMs: 200 } };

export async function measureHead(network: Devchain): Promise<BenchResult[]> {
  const random = seededRandom(5);
  const quick: Pace = { blocks: 60, pauseMs: () => 50 };
  // Longer than a lite server is let wait: blocks come at any moment of a wait, and between two of them.
  const usual: Pace = { blocks: 20, pauseMs: () => 700 + 800 * random() };
  const scenes: [string, readonly Faults[], Pace][] = [
    ['a new block served after all have it', [], quick],
    ['the same, blocks 0.7 to 1.5 s apart', [], usual],
    ['the same, 2 of 5 lite servers 200 ms away', [slow, slow], usual],
  ];
  const results: BenchResult[] = [];
  for (const [what, faults, pace] of scenes) {
    const { ms, bareMs } = await timeHeads(network, faults, pace);
    const name = `${what}, lite servers ${farMs} ms away`;
    for (const [mark, q] of quantiles) {
      const baseline = { name: 'heard of without a pool', value: quantile(bareMs, q) };
      results.push({ ...atMost(`${name}: ${mark}`, quantile(ms, q), 'ms', 150), baseline });
    }
  }
  return results;
}
