import { setTimeout as delay } from 'node:timers/promises';

import type { Devchain } from '#service/devchain/devchain.ts';
import { metric } from '#test/service/pool/network.ts';
import { badWays, readHeaders, seededRandom, spoil } from '#test/service/pool/workload.ts';
import { collectGarbage } from '#test/support/garbage.ts';
import { median, type BenchResult } from '../bench.ts';
import { atMost, callers, inScene, servers } from './scene.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Real load of the long run. */
export const loadMinutes = 10;

/** Of the pool's cache in this benchmark: less than half of what is read, and full within seconds, so that answers come and go all the time. */
const cacheBytesMax = 256 * 1024;

/**
 * Part of the time that is warm-up: the cache is full after seconds, the compiler and the allocator have settled after some minutes. RSS is
 * then compared as it was in the first and in the last fifth of what is left.
 */
const warmUpPart = 0.4;
const comparedPart = (1 - warmUpPart) / 5;

type Sample = { readonly rssBytes: number; readonly heapBytes: number };

/** Medians of one part of the samples, from one share of them to another. */
function between(samples: readonly Sample[], from: number, to: number): { rssBytes: number; heapBytes: number } {
  const taken = samples.slice(Math.floor(from * samples.length), Math.ceil(to * samples.length));
  return {
    rssBytes: median(taken.map(({ rssBytes }) => rssBytes)),
    heapBytes: median(taken.map(({ heapBytes }) => heapBytes)),
  };
}

/**
 * Reads from all callers, through a cache that is too small for them, while the chain moves on and lite servers fail and recover. Each
 * sample is taken after a full collection: what is left is held by somebody.
 */
export async function measureMemory(network: Devchain, minutes: number): Promise<BenchResult[]> {
  const good = Array.from({ length: servers }, () => ({}));
  return inScene(
    network,
    good,
    async (scene) => {
      const startMs = performance.now();
      const totalMs = minutes * 60_000;
      const isOver = (): boolean => performance.now() >= startMs + totalMs;
      const samples: Sample[] = [];
      const random = seededRandom(3);
      const disturbing = (async () => {
        while (!isOver()) {
          const faults = random() < 0.6 ? {} : badWays[Math.floor(random() * badWays.length)]!;
          await spoil(network, Math.floor(random() * (servers - 1)), faults);
          network.moveHead(network.head().id.seqno + 1);
          await delay(1_000);
          collectGarbage();
          const { rss, heapUsed } = process.memoryUsage();
          samples.push({ rssBytes: rss, heapBytes: heapUsed });
        }
      })();
      // A pause after each read: answers from memory in a row would leave no time for anything else.
      const { reads, failed, wrong } = await readHeaders(
        { ...scene, random: seededRandom(4) },
        { callers, timeoutMs: 10_000, isOver, isCached: true, isTimed: false, pauseMs: 0 },
      );
      await disturbing;
      const cacheBytes = await metric(scene.register, 'ton_pool_cache_bytes');
      await Promise.all(good.map((faults, index) => spoil(network, index, faults)));
      await delay(12_000);
      const before = between(samples, warmUpPart, warmUpPart + comparedPart);
      const after = between(samples, 1 - comparedPart, 1);
      const name = `${minutes} min of load, ${reads} reads`;
      const growth = (key: 'rssBytes' | 'heapBytes', what: string): BenchResult => ({
        ...atMost(
          `${name}: growth of ${what} after warm-up (${warmUpPart * 100} %)`,
          (after[key] / before[key] - 1) * 100,
          '%',
          5,
        ),
        baseline: { name: 'MB at its end', value: before[key] / 2 ** 20 },
      });
      return [
        growth('rssBytes', 'RSS'),
        growth('heapBytes', 'live heap'),
        { name: `${name}: cache, part of its bound`, value: (cacheBytes / cacheBytesMax) * 100, unit: '%' },
        atMost(`${name}: failed or wrong`, failed.length + wrong, 'reads', 0),
        // Of each lite server the wait for its next block, its watchdog and its line's; nothing of the reads that are over.
        atMost(`${name}: timers left while idle`, timers(), 'timers', 4 * servers),
      ];
    },
    { cacheBytesMax },
  );
}
