import { pino } from 'pino';
import { Registry } from 'prom-client';

import { parseJson } from '#service/http/json-body.ts';
import type { Hub } from '#service/streaming/changes.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { createCursors, type Cursors } from '#service/streaming/request/cursor.ts';
import { createStreaming, type ComponentHealth, type StreamingOptions } from '#service/streaming/streaming.ts';
import {
  allowed,
  scriptLimits,
  startListener,
  type Listener,
  type ListenerSetup,
} from '#test/service/http/listener.ts';
import { readSse, readWebSocket, type StreamReader } from '#test/support/stream-readers.ts';

import { createFakeHub, type FakeHub } from './fake-hub.ts';

/** Address and hashes for subscriptions. */
export const address = '0:83DFD552E63729B472FCBCC8C45EBCC6691702558B68EC7527E1BA403A0F31A8';
export const hash = '/ZyO+yaCzmsKyJvDBLuFjd/mqdwCwQcwRNQiZJXGPBo=';

/** A real listener with streams, over a fake hub unless the test brings another. */
export type StreamListener = Listener & {
  readonly hub: FakeHub;
  readonly cursors: Cursors;
  /** Metrics of streams. */
  readonly streamRegister: Registry;
  readonly sse: (wish: object, headers?: Record<string, string>) => Promise<StreamReader>;
  readonly ws: (wish?: object) => Promise<StreamReader>;
  readonly post: (body: string, headers?: Record<string, string>) => Promise<Response>;
  /** Moves the clock of streams. */
  readonly pass: (ms: number) => void;
  /** Ends the caller's key, or gives it back. */
  isInForce: boolean;
  /** Reads of streams that end with the listener. */
  readonly readers: StreamReader[];
};

export type StreamSetup = ListenerSetup & {
  readonly streaming?: StreamingOptions;
  readonly components?: Readonly<Record<string, ComponentHealth>>;
  /** Streams of one caller; default 100. */
  readonly connections?: number;
  /** A real hub, whose cursors are of `testnet`; default the fake one. */
  readonly hub?: Hub;
};

export async function startStreams(setup: StreamSetup = {}): Promise<StreamListener> {
  const cursors = createCursors('testnet');
  const hub = createFakeHub(cursors);
  const streamRegister = new Registry();
  const readers: StreamReader[] = [];
  const state = { isInForce: true, passedMs: 0 };
  const streaming = createStreaming(setup.streaming ?? {}, {
    hub: setup.hub ?? hub,
    cursors,
    connectionLimits: createConnectionLimits(),
    parseJson,
    components: () => setup.components ?? { source: { ok: true } },
    clock: { nowMs: () => performance.now() + state.passedMs, unixMs: () => 1_755_516_054_321 },
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
    register: streamRegister,
  });
  const grant = { ...allowed.streaming, connections: setup.connections ?? 100 };
  const limits = { ...scriptLimits(() => ({ ...allowed, streaming: grant })), isInForce: () => state.isInForce };
  const listener = await startListener({ limits, ...setup, dependencies: { streaming, ...setup.dependencies } });
  const base = `${listener.url}/api/streaming/v2`;
  const json = { 'content-type': 'application/json' };
  const opened = <T extends StreamReader>(reader: T): T => {
    readers.push(reader);
    return reader;
  };
  return {
    ...listener,
    hub,
    cursors,
    streamRegister,
    readers,
    post: (body, headers) => fetch(`${base}/sse`, { method: 'POST', body, headers: { ...json, ...headers } }),
    sse: async (wish, headers) => {
      const body = JSON.stringify(wish);
      return opened(await readSse(`${base}/sse`, { method: 'POST', headers: { ...json, ...headers }, body }));
    },
    ws: async (wish) => {
      const reader = opened(await readWebSocket(`${base}/ws`));
      if (wish === undefined) return reader;
      reader.send({ operation: 'subscribe', ...wish });
      await reader.until((frame) => 'status' in frame || 'error' in frame);
      return reader;
    },
    pass: (ms) => void (state.passedMs += ms),
    get isInForce() {
      return state.isInForce;
    },
    set isInForce(is) {
      state.isInForce = is;
    },
    async close() {
      for (const reader of readers) reader.close();
      await listener.close();
    },
  };
}
