import type { Devchain } from '#service/devchain/devchain.ts';
import { getBlockHeader } from '#service/liteserver/functions.ts';
import { PoolError } from '#service/pool/errors.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { openPool, unchecked, until, within } from '#test/service/pool/network.ts';
import { spoil } from '#test/service/pool/workload.ts';
import { quantile, type BenchResult } from '../bench.ts';
import { atMost, farMs, servers } from './scene.ts';

/** Reads that a lite server is given at a time, and those that may wait for a place. */
const maxInFlight = 9;
const waitersMax = 64;

/** What all lite servers take: each leaves a place to what is urgent. */
const places = servers * (maxInFlight - 1);

const loadMs = 4_000;

/** Who is refused comes again after this. */
const againMs = 20;

type Outcome = { readonly perSecond: number; readonly refusedMs: readonly number[]; readonly failed: number };

/** So many callers, each asking anew as soon as it is answered. */
async function askBy(callers: number, read: () => Promise<unknown>): Promise<Outcome> {
  const startedMs = performance.now();
  const refusedMs: number[] = [];
  let answered = 0;
  let failed = 0;
  const one = async (): Promise<void> => {
    while (performance.now() - startedMs < loadMs) {
      const sentMs = performance.now();
      try {
        await read();
        answered += 1;
      } catch (error) {
        if (error instanceof PoolError && error.code === 'saturated') refusedMs.push(performance.now() - sentMs);
        else failed += 1;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, one));
  return { perSecond: (answered * 1_000) / (performance.now() - startedMs), refusedMs, failed };
}

/** Four times as many callers as lite servers have places for, against exactly as many. */
export async function measureSaturation(network: Devchain): Promise<BenchResult[]> {
  for (let index = 0; index < servers; index += 1) await spoil(network, index, { transport: { delayMs: farMs } });
  const open = openPool(network, {
    uses: Array.from({ length: servers }, () => ({ maxInFlight })),
    tuning: { ...tuningDefaults, waitersMax },
  });
  const { pool } = open;
  try {
    await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'), 10_000);
    // Not shared: each is a query of its own.
    const read = () => pool.query(getBlockHeader, { id: pool.head()!.block, mode: 0 }, within(10_000), unchecked);
    await askBy(places, read);
    const full = await askBy(places, read);
    const over = await askBy(4 * places, read);
    const part = (over.perSecond / full.perSecond) * 100;
    const refusals = over.refusedMs.length === 0 ? [0] : over.refusedMs;
    return [
      {
        name: `four times as many callers as places (${over.refusedMs.length} told 503): reads answered`,
        value: over.perSecond,
        unit: 'reads/s',
        baseline: { name: 'as many callers as places', value: full.perSecond },
        ratio: part / 100,
        goal: '>= 0.9x',
        met: part >= 90,
      },
      atMost('four times as many callers as places: time to a refusal, p50', quantile(refusals, 0.5), 'ms', farMs),
      atMost('four times as many callers as places: failed in another way', over.failed, 'reads', 0),
    ];
  } finally {
    await open.close();
  }
}
