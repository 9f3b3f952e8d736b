import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { Hub } from './changes.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { createStreamMetrics } from './metrics.ts';
import type { Cursors } from './request/cursor.ts';
import { serveSse, type SseRequest } from './sse.ts';
import { createStreams } from './streams.ts';
import { createWsTransport, type WsRequest } from './ws.ts';

/** Live events over server-sent events and WebSocket, as the listener sees them. */
export type Streaming = {
  /** Connections that this process takes. */
  readonly connectionsMax: () => number;
  /** Changes the number of connections that this process takes. Those that are open stay. */
  readonly setConnectionsMax: (max: number) => void;
  /**
   * Serves server-sent events. Resolves when the stream has begun.
   * @throws StreamingError when the request is refused
   */
  readonly sse: (request: SseRequest) => Promise<void>;
  /** Makes a WebSocket of a connection. */
  readonly upgrade: (request: WsRequest) => void;
  readonly status: () => { readonly connections: number };
  readonly health: () => StreamingHealth;
  /** Ends all connections within the time, and takes no further ones. */
  readonly close: (withinMs: number) => Promise<void>;
};

/** State of one part that streams depend on. */
export type ComponentHealth = {
  readonly ok: boolean;
  /** Text for a person. */
  readonly error?: string;
  /** Seconds since its last news. */
  readonly age_seconds?: number;
} & Readonly<Record<string, unknown>>;

export type StreamingHealth = {
  readonly ok: boolean;
  /** Unix seconds. */
  readonly now: number;
  readonly components: Readonly<Record<string, ComponentHealth>>;
};

export type StreamingOptions = {
  /** Connections of this process; default 20,000. */
  readonly connectionsMax?: number;
  /** Names of the plans. Each has a metric of its connections from the start, by which an autoscaler counts. */
  readonly plans?: readonly string[];
};

export type StreamingDependencies = {
  readonly hub: Hub;
  /** Cursors of the served network; those of the hub. */
  readonly cursors: Cursors;
  readonly connectionLimits: ConnectionLimits;
  /** Parses a message within bounds of depth and size. The message of its error says why the text is no JSON. */
  readonly parseJson: (bytes: Uint8Array) => unknown;
  /** Parts that streams depend on, by name. */
  readonly components: () => Readonly<Record<string, ComponentHealth>>;
  readonly clock: { readonly nowMs: () => number; readonly unixMs: () => number };
  /** Random number in 0..1: callers of an ending process return at different moments. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly register: Registry;
};

/** A connection takes about 24 kB, together 480 MB. */
const CONNECTIONS_MAX = 20_000;

export function createStreaming(options: StreamingOptions, dependencies: StreamingDependencies): Streaming {
  const { plans = [] } = options;
  let { connectionsMax = CONNECTIONS_MAX } = options;
  const { clock, components, connectionLimits, register } = dependencies;
  const { nowMs } = clock;
  const metrics = createStreamMetrics(register, plans);
  const streams = createStreams(connectionsMax, { ...dependencies, metrics, nowMs });
  return {
    connectionsMax: () => connectionsMax,
    setConnectionsMax(max) {
      connectionsMax = max;
      streams.setMax(max);
    },
    sse: (request) => serveSse(request, { ...dependencies, streams, nowMs }),
    upgrade: createWsTransport({ ...dependencies, streams, nowMs }),
    status: () => ({ connections: streams.size() }),
    health() {
      const found = components();
      const ok = Object.values(found).every((component) => component.ok);
      return { ok, now: Math.floor(clock.unixMs() / 1000), components: found };
    },
    async close(withinMs) {
      await streams.close(withinMs);
      connectionLimits.close();
    },
  };
}
