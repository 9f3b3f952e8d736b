import { setTimeout as delay } from 'node:timers/promises';

import type { Devchain } from '#service/devchain/devchain.ts';
import type { Faults } from '#test/service/pool/network.ts';
import { seededRandom } from '#test/service/pool/workload.ts';
import { median, quantile, type BenchResult } from '../bench.ts';
import { atMost, farMs, inScene } from './scene.ts';

/** How blocks come: so many, each so long after the one before was served. */
type Pace = { readonly blocks: number; readonly pauseMs: () => number };

/** From the moment at which every lite server has a block to the one at which the pool serves it, proved. */
async function timeHeads(network: Devchain, faults: readonly Faults[], { blocks, pauseMs }: Pace): Promise<number[]> {
  return inScene(network, faults, async ({ pool }) => {
    const ms: number[] = [];
    for (let block = 0; block < blocks; block += 1) {
      await delay(pauseMs());
      const seqno = network.head().id.seqno + 1;
      const startedMs = performance.now();
      network.moveHead(seqno);
      while (pool.head()!.block.seqno < seqno) await delay(1);
      ms.push(performance.now() - startedMs);
    }
    return ms;
  });
}

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
    const ms = await timeHeads(network, faults, pace);
    const name = `${what}, lite servers ${farMs} ms away`;
    results.push(atMost(`${name}: p50`, median(ms), 'ms', 150), atMost(`${name}: p95`, quantile(ms, 0.95), 'ms', 150));
  }
  return results;
}
