import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import type { PoolTuning } from '#service/pool/options.ts';
import { metric, openPool, until } from '#test/service/pool/network.ts';
import type { Faults, PoolUnderTest } from '#test/service/pool/network.ts';
import { readHeaders, seededRandom, spoil } from '#test/service/pool/workload.ts';
import type { Outcome } from '#test/service/pool/workload.ts';
import type { BenchResult } from '../bench.ts';

/** Lite servers of a scenario. */
export const servers = 5;

/** Reads of one scenario: enough for a 99th percentile. */
export const readsEach = 2_000;

/** Answers of lite servers come after this: one of the same continent. */
export const farMs = 20;

export const callers = 8;

export type Scene = PoolUnderTest & { readonly network: Devchain };

/** One scenario: a pool at the service's own settings over five lite servers that were made good before. */
export async function inScene<T>(
  network: Devchain,
  faults: readonly Faults[],
  work: (scene: Scene) => Promise<T>,
  tuning: Partial<PoolTuning> = {},
): Promise<T> {
  for (let index = 0; index < servers; index += 1) await spoil(network, index, { transport: { delayMs: farMs } });
  const open = openPool(network, { tuning: { ...tuningDefaults, ...tuning } });
  try {
    await until(() => open.pool.ready() && open.pool.status().every(({ phase }) => phase === 'in'), 10_000);
    for (const [index, fault] of faults.entries()) await spoil(network, index, fault);
    return await work({ ...open, network });
  } finally {
    await open.close();
  }
}

/** The last of the lite servers, asked without a pool between. */
export function openBare(network: Devchain): LiteServer {
  const { host, port, publicKey } = network.liteServers[servers - 1]!;
  const logger = pino({ level: 'silent' });
  return createLiteServer({ name: 'bare', host, port, publicKey }, { logger, register: new Registry() });
}

/** Many reads, with the queries that they took in all. */
export async function load(scene: Scene, reads = readsEach): Promise<Outcome & { queries: number }> {
  const before = await metric(scene.register, 'ton_pool_attempts_total');
  const outcome = await readHeaders(
    { ...scene, random: seededRandom(1) },
    { callers, timeoutMs: 10_000, isOver: (done) => done >= reads },
  );
  return { ...outcome, queries: (await metric(scene.register, 'ton_pool_attempts_total')) - before };
}

export function atMost(name: string, value: number, unit: string, most: number): BenchResult {
  return { name, value, unit, goal: `<= ${most} ${unit}`, met: value <= most };
}
