import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Store } from '#service/store/store.ts';
import { WHOLE_BLOCK, type Subscription } from '#service/streaming/changes.ts';
import { createHub } from '#service/streaming/hub.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { startFinalSource } from '#test/service/streaming/final/final-source-under-test.ts';
import { median, quantile, type BenchResult } from '../bench.ts';
import { quietAddress } from './orders.ts';
import { openStoreScene, type StoreScene } from './store-scene.ts';
import { sharedCores } from './written.ts';

/** Events of six hours, each in a block of its own. */
const EVENTS = 1000;

/** Seconds of the network between two blocks. */
const BLOCK_S = 22;

/** Blocks of a minute: mainnet makes one in about a second. */
const MINUTE_BLOCKS = 60;

/** Resumes of each kind, and how many of them go on to their last event. */
const RESUMES = 30;
const WHOLE = 3;

/** Resumes from Postgres: each at a hub that has no block in its memory, without a socket. */
export async function past(): Promise<BenchResult[]> {
  const scene = await openStoreScene();
  try {
    const newest = await makeHistory(scene);
    const minute = await measure(scene, newest - MINUTE_BLOCKS);
    const hours = await measure(scene, newest - EVENTS);
    return [...figures('60 blocks', minute, 100), ...figures(`six hours, ${EVENTS} blocks with an event`, hours, 1000)];
  } finally {
    await scene.close();
  }
}

/** @returns seqno of the newest block */
async function makeHistory({ network, nextMessage, committed }: StoreScene): Promise<number> {
  for (let block = 0; block < EVENTS; block++) {
    network.send(nextMessage());
    await network.advance(BLOCK_S);
  }
  await network.step();
  const { seqno } = network.head().id;
  await committed(seqno);
  return seqno;
}

type Resumed = { readonly firstMs: number; readonly allMs: number; readonly events: number };

async function measure({ store, sender }: StoreScene, mcSeqno: number): Promise<readonly Resumed[]> {
  const found: Resumed[] = [];
  for (let time = 0; time < RESUMES; time++)
    found.push(await resume(store, sender, { mcSeqno, isWhole: time < WHOLE }));
  return found;
}

const cursors = createCursors('bench');
const labels = { addressBook: async () => ({}), metadata: async () => ({}) };
const clock = { nowMs: () => performance.now(), unixMs: () => Date.now() };
const logger = pino({ level: 'silent' });

/** @param isWhole false: the connection ends with its first event */
async function resume(
  store: Store,
  account: string,
  { mcSeqno, isWhole }: { readonly mcSeqno: number; readonly isWhole: boolean },
): Promise<Resumed> {
  const { source } = startFinalSource(store, {});
  while (source.newest() === null) await sleep(1);
  const hub = createHub({}, { log: source, labels, cursors, clock, logger, register: new Registry() });
  const cursor = cursors.write({ position: { mcSeqno, index: WHOLE_BLOCK }, connection: 1 });
  let firstMs = Infinity;
  let events = 0;
  const sink = {
    unsentBytes: () => 0,
    event() {
      firstMs = Math.min(firstMs, performance.now());
      events++;
      if (!isWhole) connection.close();
    },
    end() {},
  };
  const connection = hub.open(sink, { keyId: 'bench' });
  const beforeMs = performance.now();
  await connection.subscribe(wishOf(account), cursor, () => undefined);
  const allMs = performance.now() - beforeMs;
  await Promise.all([hub.close(), source.close()]);
  return { firstMs: firstMs - beforeMs, allMs, events };
}

function wishOf(account: string): Subscription {
  return {
    types: new Set(['transactions']),
    accounts: new Set([account, ...Array.from({ length: 9 }, (_, ordinal) => quietAddress(1, ordinal))]),
    traces: new Set(),
    minFinality: 'finalized',
    finalityScope: 'trace',
    includeAddressBook: false,
    includeMetadata: false,
    actionTypes: null,
    supportedActionTypes: new Set(),
  };
}

function figures(name: string, resumed: readonly Resumed[], goalMs: number): BenchResult[] {
  const of = `resume after ${name}, from Postgres`;
  const firsts = resumed.map(({ firstMs }) => firstMs);
  const whole = resumed.slice(0, WHOLE);
  const p99 = quantile(firsts, 0.99);
  return [
    { name: `${of}: first event, p50`, value: median(firsts), unit: 'ms' },
    {
      name: `${of}: first event, p99${sharedCores()}`,
      value: p99,
      unit: 'ms',
      goal: `<= ${goalMs} ms`,
      met: p99 <= goalMs,
    },
    {
      name: `${of}: all of ${Math.min(...whole.map(({ events }) => events))} events, p50`,
      value: median(whole.map(({ allMs }) => allMs)),
      unit: 'ms',
    },
  ];
}
