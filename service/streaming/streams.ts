import type { Logger } from 'pino';

import { createTimeSlice, type TimeSlice } from '../runtime/time-slice.ts';
import type { Begun, EventText, Hub, HubConnection, Subscription } from './changes.ts';
import { closings, type Closing } from './closing.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { StreamingError } from './errors.ts';
import type { StreamMetrics, Transport } from './metrics.ts';
import type { Cursors } from './request/cursor.ts';
import type { StreamTerms } from './request/subscription.ts';

/** Caller of a stream, admitted by the limits. */
export type StreamCaller = {
  /** Name under which its connections are counted. */
  readonly owner: string;
  readonly plan: string;
  readonly terms: StreamTerms & { readonly connections: number };
  /** Key whose end ends the stream; undefined for a caller without a key. */
  readonly key: string | undefined;
  /** Reports whether its key may still be used. */
  readonly isInForce: () => boolean;
  /** Pays for one more subscription, or for a large message. Resolves to the text of a refusal. */
  readonly charge: () => Promise<string | undefined>;
  /** Header `X-Actions-Version`. */
  readonly actionsVersion: string | undefined;
};

/** Caller's end of a stream. */
export type Outlet = {
  readonly transport: Transport;
  /** Bytes that the kernel does not have yet. */
  readonly unsentBytes: () => number;
  readonly event: (event: EventText, cursor: string) => void;
  /** Says goodbye and ends the connection. The transport calls `closed` of the stream afterwards. */
  readonly end: (closing: Closing, cursor: string | null) => void;
  /** Keepalive and timeouts. Returns the time of the next call. */
  readonly tick: (nowMs: number) => number;
};

/** A connection between its transport and the hub. */
export type Stream = {
  /**
   * Takes a place among the connections of the caller.
   * @param cursor names a connection whose place this one takes
   * @throws StreamingError `connection_limit`, `invalid_cursor`
   */
  readonly takePlace: (cursor: string | undefined) => Promise<void>;
  /**
   * Subscribes at the hub, and resolves when `answer` has run. A later failure ends the stream.
   * @throws StreamingError `invalid_cursor`, `replay_busy`
   */
  readonly subscribe: (wish: Subscription, cursor: string | undefined, answer: (begun: Begun) => void) => Promise<void>;
  readonly unsubscribe: HubConnection['unsubscribe'];
  readonly cursor: () => string;
  /** The transport has written all bytes. */
  readonly drain: () => void;
  /** Ends the connection. The first closing counts. */
  readonly end: (closing: Closing) => void;
  /** The connection is gone. @param code close code that the service did not choose itself */
  readonly closed: (code?: number) => void;
};

/** All connections of this process. */
export type Streams = {
  /** @throws StreamingError `too_many_streams`, `streams_closing` */
  readonly open: (caller: StreamCaller, outlet: Outlet) => Stream;
  readonly size: () => number;
  /** Bounds the connections of this process. Those that are open stay. */
  readonly setMax: (max: number) => void;
  /** Ends all connections within the time, at random moments. Resolves when all are gone. */
  readonly close: (withinMs: number) => Promise<void>;
};

export type StreamsDependencies = {
  readonly hub: Hub;
  readonly cursors: Cursors;
  readonly connectionLimits: ConnectionLimits;
  readonly metrics: StreamMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
};

type LiveStream = {
  readonly stream: Stream;
  readonly caller: StreamCaller;
  readonly outlet: Outlet;
  /** Sweep in which the outlet is called next. */
  due: number;
};

/** Interval of keepalives and timeouts. Ten thousand connections have 70 of them in each sweep, which delay an answer by 2 ms. */
const SWEEP_MS = 100;

/** Unsent bytes of a connection, answers and keepalives too. The largest event behind a full queue is half of it. */
const UNSENT_BYTES_MAX = 8 * 1024 * 1024;

/** Interval of checks of keys. A revoked key reaches this process within 1.2 s, and its streams end within 2 s. */
const KEYS_MS = 500;

/** Streams in groups, without empty groups. */
type Groups<K> = Map<K, Set<LiveStream>>;

function addTo<K>(groups: Groups<K>, key: K, live: LiveStream): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, new Set([live]));
  else group.add(live);
}

function removeFrom<K>(groups: Groups<K>, key: K, live: LiveStream): void {
  const group = groups.get(key);
  if (group?.delete(live) === true && group.size === 0) groups.delete(key);
}

/** @param connectionsMax connections of this process */
export function createStreams(connectionsMax: number, dependencies: StreamsDependencies): Streams {
  const { nowMs, random, logger } = dependencies;
  /** All streams by key, and by sweep: a sweep must not touch thousands of streams that have nothing to do. */
  const byKey: Groups<string | undefined> = new Map();
  const bySweep: Groups<number> = new Map();
  let size = 0;
  let max = connectionsMax;
  let isClosing = false;
  let onEmpty: (() => void) | undefined;

  const isOpen = (live: LiveStream): boolean => byKey.get(live.caller.key)?.has(live) === true;

  function tick(live: LiveStream): void {
    if (!isOpen(live)) return;
    if (live.outlet.unsentBytes() > UNSENT_BYTES_MAX) live.stream.end(closings.slowConsumer);
    const now = nowMs();
    const nextMs = live.outlet.tick(now);
    removeFrom(bySweep, live.due, live);
    if (!isOpen(live)) return;
    // A later sweep: the streams of this sweep are being read.
    live.due = Math.max(Math.ceil(nextMs / SWEEP_MS), Math.floor(now / SWEEP_MS) + 1);
    addTo(bySweep, live.due, live);
  }

  async function endRevoked(slice: TimeSlice): Promise<void> {
    for (const streams of byKey.values()) {
      const [one] = streams;
      if (one === undefined || one.caller.isInForce()) continue;
      for (const { stream } of streams) {
        await slice.pause();
        stream.end(closings.keyEnded);
      }
    }
  }

  let keysMs = 0;

  /** Connections that opened at one time get their pings at one time: thousands of them must not block the loop. */
  async function sweepAll(): Promise<void> {
    const slice = createTimeSlice(undefined);
    if (nowMs() >= keysMs) {
      keysMs = nowMs() + KEYS_MS;
      await endRevoked(slice);
    }
    for (const [sweep, streams] of bySweep) {
      if (sweep * SWEEP_MS > nowMs()) continue;
      for (const live of streams) {
        const rest = slice.pause();
        if (rest !== undefined) await rest;
        tick(live);
      }
    }
  }

  let sweeping: Promise<void> | undefined;
  const sweep = setInterval(() => {
    sweeping ??= sweepAll()
      .catch((error: unknown) => logger.error({ err: error }, 'streams were not checked'))
      .finally(() => (sweeping = undefined));
  }, SWEEP_MS);
  sweep.unref();

  return {
    open(caller, outlet) {
      if (isClosing) throw new StreamingError('streams_closing', 'this process ends');
      if (size >= max) throw new StreamingError('too_many_streams', 'too many streams are open');
      const stream = createStream(caller, outlet, dependencies, () => {
        removeFrom(byKey, caller.key, live);
        removeFrom(bySweep, live.due, live);
        if (--size === 0) onEmpty?.();
      });
      const live: LiveStream = { stream, caller, outlet, due: 0 };
      size++;
      addTo(byKey, caller.key, live);
      tick(live);
      return stream;
    },
    size: () => size,
    setMax: (next) => void (max = next),
    async close(withinMs) {
      isClosing = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      if (size === 0) resolve();
      // Callers of one pod must not come to the others all at once.
      for (const { stream } of [...byKey.values()].flatMap((streams) => [...streams])) {
        setTimeout(() => stream.end(closings.goingAway), random() * withinMs);
      }
      await promise;
      clearInterval(sweep);
    },
  };
}

function createStream(
  caller: StreamCaller,
  outlet: Outlet,
  { hub, cursors, connectionLimits, metrics, logger }: StreamsDependencies,
  onClosed: () => void,
): Stream {
  const { owner, plan, terms } = caller;
  let ending: Closing | undefined;
  let isClosed = false;

  const end = (closing: Closing, cursor: string | null): void => {
    if (ending !== undefined || isClosed) return;
    ending = closing;
    outlet.end(closing, cursor);
  };

  const atHub: HubConnection = hub.open(
    {
      unsentBytes: outlet.unsentBytes,
      event: outlet.event,
      end: (code, reason, cursor) => end({ code, reason }, cursor),
    },
    { keyId: owner },
  );
  const { connection } = cursors.read(atHub.cursor());
  const onReplaced = (): void => end(closings.superseded, atHub.cursor());
  metrics.opened(outlet.transport, plan);

  return {
    async takePlace(cursor) {
      const replaced = cursor === undefined ? undefined : cursors.read(cursor).connection;
      const max = terms.connections;
      if (await connectionLimits.take({ owner, connection, max, replaced }, onReplaced)) return;
      throw new StreamingError('connection_limit', `connection limit reached: ${max} active connections`);
    },
    async subscribe(wish, cursor, answer) {
      if (cursor !== undefined) cursors.read(cursor);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let isAnswered = false;
      const onBegun = (begun: Begun): void => {
        isAnswered = true;
        answer(begun);
        resolve();
      };
      atHub.subscribe(wish, cursor, onBegun).then(resolve, (error: unknown) => {
        if (!isAnswered) return reject(error);
        logger.error({ err: error }, 'the replay of a stream failed');
        end(closings.internal, atHub.cursor());
      });
      try {
        await promise;
        metrics.subscribed(outlet.transport, 'subscribed');
      } catch (error) {
        metrics.subscribed(outlet.transport, error instanceof StreamingError ? error.code : 'internal');
        throw error;
      }
    },
    unsubscribe: (accounts, traces) => atHub.unsubscribe(accounts, traces),
    cursor: () => atHub.cursor(),
    drain: () => atHub.drain(),
    end: (closing) => end(closing, atHub.cursor()),
    closed(code) {
      if (isClosed) return;
      isClosed = true;
      atHub.close();
      connectionLimits.free(owner, connection);
      metrics.closed(outlet.transport, plan, ending?.code ?? code ?? 'client');
      onClosed();
    },
  };
}
