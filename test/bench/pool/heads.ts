import { setTimeout as delay } from 'node:timers/promises';

import type { Devchain } from '#service/devchain/devchain.ts';
import { median, quantile, type BenchResult } from '../bench.ts';
import { atMost, farMs, inScene } from './scene.ts';

/** From the moment at which every lite server has a block to the one at which the pool serves it, proved. */
export async function measureHead(network: Devchain): Promise<BenchResult[]> {
  const blocks = 60;
  return inScene(network, [], async ({ pool }) => {
    const ms: number[] = [];
    for (let block = 0; block < blocks; block += 1) {
      const seqno = network.head().id.seqno + 1;
      const startedMs = performance.now();
      network.moveHead(seqno);
      while (pool.head()!.block.seqno < seqno) await delay(1);
      ms.push(performance.now() - startedMs);
      await delay(50);
    }
    const name = `a new block served after all have it, lite servers ${farMs} ms away`;
    return [atMost(`${name}: p50`, median(ms), 'ms', 150), atMost(`${name}: p95`, quantile(ms, 0.95), 'ms', 150)];
  });
}
