import { setTimeout as delay } from 'node:timers/promises';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader, getTime } from '#service/liteserver/functions.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { metric, openPool, until, within } from '#test/service/pool/network.ts';
import { runForgeries } from '#test/service/pool/forgery-runs.ts';
import type { Faults, PoolUnderTest } from '#test/service/pool/network.ts';
import { badWays, forgeries, readHeaders, seededRandom, spoil } from '#test/service/pool/workload.ts';
import type { Outcome } from '#test/service/pool/workload.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { cpuMs, median, quantile, type Bench, type BenchResult } from './bench.ts';
import { startRemoteNetwork } from './pool/remote-network.ts';

const servers = 5;

/** Reads of one scenario: enough for a 99th percentile. */
const readsEach = 2_000;

/** Answers of lite servers come after this: one of the same continent. */
const farMs = 20;

const callers = 8;

type Scene = PoolUnderTest & { readonly network: Devchain };

/** One scenario: a pool at the service's own settings over five lite servers that were made good before. */
async function inScene<T>(
  network: Devchain,
  faults: readonly Faults[],
  work: (scene: Scene) => Promise<T>,
): Promise<T> {
  for (let index = 0; index < servers; index += 1) await spoil(network, index, { transport: { delayMs: farMs } });
  const open = openPool(network, { tuning: tuningDefaults });
  try {
    await until(() => open.pool.ready() && open.pool.status().every(({ phase }) => phase === 'in'), 10_000);
    for (const [index, fault] of faults.entries()) await spoil(network, index, fault);
    return await work({ ...open, network });
  } finally {
    await open.close();
  }
}

/** Many reads, with the queries that they took in all. */
async function load(scene: Scene, reads = readsEach): Promise<Outcome & { queries: number }> {
  const before = await metric(scene.register, 'ton_pool_attempts_total');
  const outcome = await readHeaders(
    { ...scene, random: seededRandom(1) },
    { callers, timeoutMs: 10_000, isOver: (done) => done >= reads },
  );
  return { ...outcome, queries: (await metric(scene.register, 'ton_pool_attempts_total')) - before };
}

function atMost(name: string, value: number, unit: string, most: number): BenchResult {
  return { name, value, unit, goal: `<= ${most} ${unit}`, met: value <= most };
}

async function measureOneBad(network: Devchain): Promise<BenchResult[]> {
  // The first reads of a process are slow whatever the lite servers do: they would flatter the comparison.
  await inScene(network, [], load);
  const healthy = await inScene(network, [], load);
  const ill = await inScene(network, [{ transport: { silent: 'answers' } }, { transport: { delayMs: 5_000 } }], load);
  const [healthyMs, illMs] = [quantile(healthy.ms, 0.99), quantile(ill.ms, 0.99)];
  const hedgeMs = tuningDefaults.hedgeMsMin;
  return [
    atMost('1 of 5 black-holed, 1 at 5 s: failed reads', ill.failed.length, 'reads', 0),
    {
      ...atMost('1 of 5 black-holed, 1 at 5 s: p99', illMs, 'ms', Math.round(healthyMs * 1.2 + hedgeMs)),
      baseline: { name: 'healthy', value: healthyMs },
    },
    {
      ...atMost('1 of 5 black-holed, 1 at 5 s: extra queries', (ill.queries / ill.ms.length - 1) * 100, '%', 10),
      baseline: { name: 'healthy', value: (healthy.queries / healthy.ms.length - 1) * 100 },
    },
  ];
}

async function measureFourBad(network: Devchain): Promise<BenchResult[]> {
  const faults = [
    { transport: { silent: 'answers' } },
    { notReady: 'pruned' },
    { overloadedAfterMs: 100 },
    forgeries[1]!,
  ];
  const ill = await inScene(network, faults as Faults[], load);
  return [
    atMost('4 of 5 broken: failed reads', ill.failed.length, 'reads', 0),
    atMost('4 of 5 broken: wrong answers', ill.wrong, 'reads', 0),
  ];
}

async function measureForgeries(network: Devchain): Promise<BenchResult[]> {
  const outcome = await inScene(network, forgeries, load);
  await spoil(network, 0, {});
  const runs = await runForgeries(network);
  const accepted = runs.filter((forged) => forged.outcome === 'accepted').length;
  const kinds = new Set(runs.map(({ functionName }) => functionName)).size;
  return [
    atMost(`${runs.length} forgeries of ${kinds} kinds of answers: accepted`, accepted, 'answers', 0),
    atMost('4 of 5 forge: accepted', outcome.wrong, 'reads', 0),
    atMost('4 of 5 forge: failed reads', outcome.failed.length, 'reads', 0),
  ];
}

/** Every caller looks at the head and reads at it, while lite servers flap. */
async function measureRegressions(network: Devchain): Promise<BenchResult[]> {
  const reads = 100_000;
  const random = seededRandom(2);
  return inScene(network, [], async (scene) => {
    const over = new AbortController();
    const flapping = (async () => {
      while (!over.signal.aborted) {
        const faults = random() < 0.4 ? {} : badWays[Math.floor(random() * badWays.length)]!;
        await spoil(network, Math.floor(random() * (servers - 1)), faults);
        if (random() < 0.5) network.moveHead(network.head().id.seqno + 1);
        await delay(50);
      }
    })();
    const seen = Array.from({ length: callers }, () => 0);
    let regressions = 0;
    let failed = 0;
    await Promise.all(
      seen.map(async (_, caller) => {
        for (let turn = 0; turn < reads / callers; turn += 1) {
          const head = scene.pool.head()!.block;
          const answer = await scene.pool
            .query(getBlockHeader, { id: head, mode: 0 }, within(10_000), {
              shareAs: 'header',
              immutable: true,
              check: (told) => checkBlockHeader({ block: head }, told).info.seqno,
            })
            .catch(() => undefined);
          if (answer === undefined) failed += 1;
          else if (answer.value < seen[caller]!) regressions += 1;
          else seen[caller] = answer.value;
          if (turn % 100 === 0) await delay(1);
        }
      }),
    );
    over.abort();
    await flapping;
    return [
      atMost(`${reads} reads, lite servers flapping: regressions of seqno`, regressions, 'reads', 0),
      atMost(`${reads} reads, lite servers flapping: failed reads`, failed, 'reads', 0),
    ];
  });
}

/** From the moment at which every lite server has a block to the one at which the pool serves it, proved. */
async function measureHead(network: Devchain): Promise<BenchResult[]> {
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

async function measureSharing(network: Devchain): Promise<BenchResult[]> {
  return inScene(network, [], async ({ pool, register }) => {
    const { block } = pool.head()!;
    const read = (byte: number) => {
      const account = { workchain: MASTERCHAIN, id: Buffer.alloc(32, byte) };
      return pool.query(getAccountState, { id: block, account }, within(10_000), {
        shareAs: 'bench',
        immutable: true,
        check: (answer) => checkAccountState({ block, workchain: account.workchain, account: account.id }, answer),
      });
    };
    const asked = () => metric(register, 'ton_pool_attempts_total');
    const before = await asked();
    await Promise.all(Array.from({ length: 100 }, () => read(0x33)));
    const queries = (await asked()) - before;
    for (let byte = 0; byte < 100; byte += 1) await read(byte);
    const ms: number[] = [];
    let hits = 0;
    for (let turn = 0; turn < 2_000; turn += 1) {
      const startedMs = performance.now();
      if ((await read(turn % 100)).cached) hits += 1;
      ms.push(performance.now() - startedMs);
    }
    const part = (hits / 2_000) * 100;
    return [
      atMost('100 identical concurrent reads: upstream queries', queries, 'queries', 1),
      { name: "one block's queries replayed: hits", value: part, unit: '%', goal: '>= 95 %', met: part >= 95 },
      atMost('a cache hit, p50', median(ms), 'ms', 0.3),
    ];
  });
}

async function measureRestart(network: Devchain): Promise<BenchResult[]> {
  return inScene(network, [], async (scene) => {
    for (let index = 0; index < servers; index += 1) await spoil(network, index, { transport: { refuse: true } });
    await until(() => !scene.pool.ready());
    await delay(5_000);
    const startedMs = performance.now();
    await spoil(network, 3, {});
    await until(() => scene.pool.ready(), 20_000);
    const { failed } = await load(scene, 1);
    const tookMs = performance.now() - startedMs;
    return [
      atMost('all restarted: serving after the first is back', failed.length > 0 ? Infinity : tookMs, 'ms', 2_000),
    ];
  });
}

/** CPU of the smallest query through the pool, less that of the same query at a lite server; short turns are compared in pairs. */
async function measureOverhead(network: Devchain): Promise<BenchResult[]> {
  const queries = 500;
  const pairs = 20;
  const good = Array.from({ length: servers }, () => ({}));
  return inScene(network, good, async ({ pool }) => {
    const { host, port, publicKey } = network.liteServers[0]!;
    const logger = pino({ level: 'silent' });
    const bare = createLiteServer({ name: 'bare', host, port, publicKey }, { logger, register: new Registry() });
    const askBare = async (): Promise<void> => {
      for (let turn = 0; turn < queries; turn += 1) await bare.query(getTime, {}, { timeoutMs: 5_000 });
    };
    const askPool = async (): Promise<void> => {
      for (let turn = 0; turn < queries; turn += 1) await pool.query(getTime, {}, within(5_000));
    };
    await askBare();
    await askPool();
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

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Real load of the long run. */
const loadMinutes = 10;

/**
 * Reads from all callers while the chain moves on and lite servers fail and recover, none from the cache. RSS is the median of the
 * last tenth of the time against that of the third one: by then caches, pools of buffers and compiled code have their size.
 */
async function measureMemory(network: Devchain, minutes: number): Promise<BenchResult[]> {
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

async function run(options: readonly string[]): Promise<BenchResult[]> {
  const network = await startRemoteNetwork(servers);
  try {
    if (options.includes('--long')) return await measureMemory(network, loadMinutes);
    const results: BenchResult[] = [];
    for (const measure of [
      measureOneBad,
      measureFourBad,
      measureForgeries,
      measureHead,
      measureSharing,
      measureRestart,
      measureOverhead,
      (one: Devchain) => measureMemory(one, 1),
      measureRegressions,
    ]) {
      results.push(...(await measure(network)));
    }
    return results;
  } finally {
    await network.close();
  }
}

export const bench: Bench = {
  about:
    'reads through the pool while lite servers fail, against the same reads while all are well; --long: ten minutes of load',
  run,
};
