import { pino } from 'pino';
import { Registry } from 'prom-client';

import { parseJson } from '#service/http/json-body.ts';
import { WHOLE_BLOCK, type FinalLog, type Position, type TraceSnapshot } from '#service/streaming/changes.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { createHub } from '#service/streaming/hub.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { createStreaming } from '#service/streaming/streaming.ts';
import { allowed, scriptLimits, startListener } from '#test/service/http/listener.ts';

import { EVENT_BYTES, MARK, watchedAccount } from './orders.ts';
import { serve } from './serving.ts';

// A pod whose blocks are made here: listener, transports and hub are those of the service.

const CONNECTIONS_MAX = 20_000;

let newest: Position = { mcSeqno: 1, index: WHOLE_BLOCK };

const log: FinalLog = {
  newest: () => newest,
  changesOf: async () => [],
  oldest: async () => 1,
  findTrace: async () => undefined,
};

/** A final trace with one transaction of the watched account, as large as a usual event. */
function snapshotAt(mcSeqno: number): TraceSnapshot {
  const key = mcSeqno.toString(16).padStart(64, '0');
  const view = { account: watchedAccount, hash: key, text: MARK.padEnd(EVENT_BYTES - 350, 'x') };
  return {
    kind: 'trace',
    key,
    finality: 'finalized',
    position: { mcSeqno, index: 0 },
    hashes: [key],
    transactions: [{ account: watchedAccount, hash: key, view, named: [watchedAccount] }],
    actions: [],
    tree: { tx_hash: key, children: [] },
    isIncomplete: false,
    traceId: null,
  };
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

serve(port, async () => {
  const mcSeqno = newest.mcSeqno + 1;
  const snapshot = snapshotAt(mcSeqno);
  await hub.publish([snapshot]);
  newest = { mcSeqno, index: WHOLE_BLOCK };
});
