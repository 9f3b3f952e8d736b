import type { Devchain } from '#service/devchain/devchain.ts';
import { getTime } from '#service/liteserver/functions.ts';
import { within } from '#test/service/pool/network.ts';
import { cpuMs, median, type BenchResult } from '../bench.ts';
import { atMost, inScene, openBare, servers } from './scene.ts';

/** CPU of the smallest query through the pool, less that of the same query at a lite server; short turns are compared in pairs. */
export async function measureOverhead(network: Devchain): Promise<BenchResult[]> {
  const queries = 500;
  const pairs = 20;
  const good = Array.from({ length: servers }, () => ({}));
  return inScene(network, good, async ({ pool }) => {
    const bare = openBare(network);
    const askBare = async (): Promise<void> => {
      for (let turn = 0; turn < queries; turn += 1) await bare.query(getTime, {}, { timeoutMs: 5_000 });
    };
    const askPool = async (): Promise<void> => {
      for (let turn = 0; turn < queries; turn += 1) await pool.query(getTime, {}, within(5_000));
    };
    // Until the compiler has done with both.
    for (let turn = 0; turn < 20; turn += 1) {
      await askBare();
      await askPool();
    }
    const bareUs: number[] = [];
    const overUs: number[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const oneUs = (await cpuMs(queries, askBare)) * 1_000;
      bareUs.push(oneUs);
      overUs.push((await cpuMs(queries, askPool)) * 1_000 - oneUs);
    }
    await bare.close();
    return [
      {
        ...atMost('pool overhead over a bare query, CPU', median(overUs), 'us', 60),
        baseline: { name: 'bare query', value: median(bareUs) },
      },
    ];
  });
}
