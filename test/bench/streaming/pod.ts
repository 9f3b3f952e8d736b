import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { parseJson } from '#service/http/json-body.ts';
import {
  WHOLE_BLOCK,
  type Change,
  type FinalLog,
  type Position,
  type TraceSnapshot,
} from '#service/streaming/changes.ts';
import { changesFor } from '#service/streaming/concerned.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { createHub } from '#service/streaming/hub.ts';
import { setApiGcFlags, setGcFlags } from '#service/main/v8-flags.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { createStreaming } from '#service/streaming/streaming.ts';
import { allowed, scriptLimits, startListener } from '#test/service/http/listener.ts';

import { EVENT_BYTES, liveAccount, MARK, watchedAccount } from './orders.ts';
import { serve } from './serving.ts';

// A pod whose blocks are made here: listener, transports and hub are those of the service.

// The service has both.
setGcFlags();
setApiGcFlags();

const CONNECTIONS_MAX = 20_000;

/** Transactions of a block: a second of a busy network. */
const BLOCK_TRANSACTIONS = 100;

/** Blocks of a minute, and each how many of them has an event of the watched account. */
const MINUTE_BLOCKS = 60;
const WATCHED_EACH = 6;

let newest: Position = { mcSeqno: 1, index: WHOLE_BLOCK };
const blocks = new Map<number, readonly Change[]>();

const log: FinalLog = {
  newest: () => newest,
  changesOf: async (mcSeqno) => blocks.get(mcSeqno) ?? [],
  oldest: async () => 1,
  findTrace: async () => undefined,
  async touched(wish, { from, to }) {
    const range = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    return { seqnos: range.filter((mcSeqno) => changesFor(blocks.get(mcSeqno) ?? [], wish).length > 0), until: to };
  },
};

/** A final trace with one transaction of an account, as large as a usual event. */
function snapshotAt(mcSeqno: number, account: string, index = 0): TraceSnapshot {
  const key = (mcSeqno * BLOCK_TRANSACTIONS + index).toString(16).padStart(64, '0');
  const view = { account, hash: key, text: MARK.padEnd(EVENT_BYTES - 350, 'x') };
  return {
    kind: 'trace',
    key,
    finality: 'finalized',
    position: { mcSeqno, index },
    hashes: [key],
    transactions: [{ account, hash: key, view, named: [account] }],
    actions: [],
    tree: { tx_hash: key, children: [] },
    isIncomplete: false,
    traceId: null,
  };
}

/** Account of the traffic that no connection watches. */
const strangerAt = (ordinal: number): string => `0:${(10n ** 40n + BigInt(ordinal)).toString(16).padStart(64, 'F')}`;

/** @param watched account of the first trace; undefined for a stranger */
function trafficAt(mcSeqno: number, watched?: string): readonly Change[] {
  return Array.from({ length: BLOCK_TRANSACTIONS }, (_, index) =>
    snapshotAt(mcSeqno, index === 0 && watched !== undefined ? watched : strangerAt(mcSeqno + index), index),
  );
}

async function addBlock(changesAt: (mcSeqno: number) => readonly Change[]): Promise<void> {
  const mcSeqno = newest.mcSeqno + 1;
  const changes = changesAt(mcSeqno);
  await hub.publish(changes);
  newest = { mcSeqno, index: WHOLE_BLOCK };
  blocks.set(mcSeqno, changes);
}

const clock = { nowMs: () => performance.now(), unixMs: () => Date.now() };
const logger = pino({ level: 'silent' });
const register = new Registry();
const cursors = createCursors('bench');
const labels = { addressBook: async () => ({}), metadata: async () => ({}) };
const hub = createHub({}, { log, labels, cursors, clock, logger, register });
const streaming = createStreaming(
  { connectionsMax: CONNECTIONS_MAX },
  {
    hub,
    cursors,
    connectionLimits: createConnectionLimits(),
    parseJson,
    components: () => ({}),
    clock,
    random: Math.random,
    logger,
    register,
  },
);
const grant = { owner: 'bench', connections: CONNECTIONS_MAX, addresses: 10_000, traces: 1000 };
const { port } = await startListener({
  limits: scriptLimits(() => ({ ...allowed, streaming: grant })),
  options: { connectionsPerAddress: 0, connectionsMax: CONNECTIONS_MAX },
  dependencies: { streaming, logger },
});

const publish = (): Promise<void> => addBlock((mcSeqno) => [snapshotAt(mcSeqno, watchedAccount)]);

async function runTraffic(seconds: number): Promise<number> {
  const before = process.cpuUsage();
  const startMs = performance.now();
  for (let second = 1; second <= seconds; second++) {
    await addBlock((mcSeqno) => trafficAt(mcSeqno));
    await sleep(startMs + second * 1000 - performance.now());
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 10 / (performance.now() - startMs);
}

serve(port, publish, async (order) => {
  if (order.kind === 'traffic') return { kind: 'traffic', cpuPercent: await runTraffic(order.seconds) };
  if (order.kind === 'live') {
    await addBlock((mcSeqno) => [snapshotAt(mcSeqno, liveAccount)]);
    return { kind: 'live' };
  }
  if (order.kind !== 'history') return undefined;
  const cursor = cursors.write({ position: newest, connection: 1 });
  for (let block = 0; block < MINUTE_BLOCKS; block++) {
    await addBlock((mcSeqno) => trafficAt(mcSeqno, block % WATCHED_EACH === 0 ? watchedAccount : undefined));
  }
  return { kind: 'history', cursor };
});
