import { setTimeout as delay } from 'node:timers/promises';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader } from '#service/liteserver/functions.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { metric, until, within } from '#test/service/pool/network.ts';
import { runForgeries } from '#test/service/pool/forgery-runs.ts';
import type { Faults } from '#test/service/pool/network.ts';
import { badWays, forgeries, seededRandom, spoil } from '#test/service/pool/workload.ts';
import { median, quantile, wantedOf, type Bench, type BenchResult } from './bench.ts';
import { measureDepth } from './pool/depth.ts';
import { measureHead } from './pool/heads.ts';
import { loadMinutes, measureMemory } from './pool/memory.ts';
import { measureOverhead } from './pool/overhead.ts';
import { startRemoteNetwork } from './pool/remote-network.ts';
import { measureSaturation } from './pool/saturation.ts';
import { atMost, callers, inScene, load, servers } from './pool/scene.ts';

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

/** The scenarios by the name that `--only NAME` gives. */
const measures: Readonly<Record<string, (network: Devchain) => Promise<BenchResult[]>>> = {
  'one-bad': measureOneBad,
  'four-bad': measureFourBad,
  forgeries: measureForgeries,
  head: measureHead,
  sharing: measureSharing,
  restart: measureRestart,
  overhead: measureOverhead,
  memory: (network) => measureMemory(network, 1),
  regressions: measureRegressions,
  depth: measureDepth,
  saturation: measureSaturation,
};

async function run(options: readonly string[]): Promise<BenchResult[]> {
  const wanted = wantedOf(options, Object.keys(measures));
  const network = await startRemoteNetwork(servers);
  try {
    if (options.includes('--long')) return await measureMemory(network, loadMinutes);
    const results: BenchResult[] = [];
    for (const name of wanted) results.push(...(await measures[name]!(network)));
    return results;
  } finally {
    await network.close();
  }
}

export const bench: Bench = {
  about:
    'reads through the pool while lite servers fail, against the same reads while all are well; --only NAME...: these scenarios; --long: ten minutes of load',
  run,
};
