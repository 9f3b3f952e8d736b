import { setTimeout as delay } from 'node:timers/promises';

import type { Devchain } from '#service/devchain/devchain.ts';
import { badWays, readHeaders, seededRandom, spoil } from '#test/service/pool/workload.ts';
import { median, type BenchResult } from '../bench.ts';
import { atMost, callers, inScene, servers } from './scene.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Real load of the long run. */
export const loadMinutes = 10;

/**
 * Reads from all callers while the chain moves on and lite servers fail and recover, none from the cache. RSS is the median of the
 * last tenth of the time against that of the third one: by then caches, pools of buffers and compiled code have their size.
 */
export async function measureMemory(network: Devchain, minutes: number): Promise<BenchResult[]> {
  const good = Array.from({ length: servers }, () => ({}));
  return inScene(network, good, async (scene) => {
    const endMs = performance.now() + minutes * 60_000;
    const samples: { readonly ms: number; readonly bytes: number }[] = [];
    const random = seededRandom(3);
    const isOver = (): boolean => performance.now() >= endMs;
    const disturbing = (async () => {
      while (!isOver()) {
        samples.push({ ms: performance.now(), bytes: process.memoryUsage().rss });
        const faults = random() < 0.6 ? {} : badWays[Math.floor(random() * badWays.length)]!;
        await spoil(network, Math.floor(random() * (servers - 1)), faults);
        network.moveHead(network.head().id.seqno + 1);
        await delay(1_000);
      }
    })();
    const { ms, failed, wrong } = await readHeaders(
      { ...scene, random: seededRandom(4) },
      { callers, timeoutMs: 10_000, isOver },
    );
    await disturbing;
    await Promise.all(good.map((faults, index) => spoil(network, index, faults)));
    await delay(12_000);
    const rssBetween = (fromMs: number, toMs: number): number =>
      median(samples.filter((sample) => sample.ms >= fromMs && sample.ms < toMs).map(({ bytes }) => bytes));
    const partMs = minutes * 6_000;
    const before = rssBetween(endMs - 8 * partMs, endMs - 7 * partMs);
    const after = rssBetween(endMs - partMs, endMs);
    const name = `${minutes} min of load, ${ms.length} reads`;
    const grown = atMost(`${name}: growth of RSS after warm-up`, (after / before - 1) * 100, '%', 5);
    return [
      { ...grown, baseline: { name: 'RSS in MB', value: before / 2 ** 20 } },
      atMost(`${name}: failed or wrong`, failed.length + wrong, 'reads', 0),
      // Of each lite server the wait for its next block, its watchdog and its line's; nothing of the reads that are over.
      atMost(`${name}: timers left while idle`, timers(), 'timers', 4 * servers),
    ];
  });
}
