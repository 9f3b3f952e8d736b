import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';

import type { Closing } from '#service/streaming/closing.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { createStreamMetrics } from '#service/streaming/metrics.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { createStreams, type Stream, type Streams } from '#service/streaming/streams.ts';
import { createFakeHub } from './fake-hub.ts';

const terms = { connections: 10, addresses: 10, traces: 10 };

/** Milliseconds that the clock of the streams is ahead of the real one. */
let aheadMs = 0;
let streams: Streams;

function start(): void {
  const cursors = createCursors('testnet');
  aheadMs = 0;
  streams = createStreams(100, {
    hub: createFakeHub(cursors),
    cursors,
    connectionLimits: createConnectionLimits(),
    metrics: createStreamMetrics(new Registry()),
    logger: pino({ level: 'silent' }),
    nowMs: () => performance.now() + aheadMs,
    random: () => 0,
  });
}

afterEach(() => streams.close(0));

type Opened = {
  readonly stream: Stream;
  readonly ticks: number[];
  readonly endings: Closing[];
  /** Bytes that its caller has not read. */
  unsent: number;
};

/** Opens a stream whose outlet wants a call at each of the intervals. */
function open(
  key: string | undefined,
  isInForce: () => boolean,
  everyMs = 15_000,
  onTick: (opened: Opened) => void = () => undefined,
): Opened {
  const ticks: number[] = [];
  const endings: Closing[] = [];
  let opened: Opened | undefined;
  const caller = { owner: 'one owner', plan: 'free', terms, key, isInForce, charge: async () => undefined };
  const stream = streams.open(
    { ...caller, actionsVersion: undefined },
    {
      transport: 'ws',
      unsentBytes: () => opened?.unsent ?? 0,
      event: () => undefined,
      end: (closing) => {
        endings.push(closing);
        stream.closed();
      },
      tick: (nowMs) => {
        ticks.push(nowMs);
        if (opened !== undefined) onTick(opened);
        return nowMs + everyMs;
      },
    },
  );
  opened = { stream, ticks, endings, unsent: 0 };
  return opened;
}

describe('the streams of a process', () => {
  it('end with their key, and other keys of the same owner go on', async () => {
    start();
    let isInForce = true;
    const ended = [open('a', () => isInForce), open('a', () => isInForce)];
    const others = [open('b', () => true), open(undefined, () => true)];
    isInForce = false;
    await expect.poll(() => ended.map(({ endings }) => endings.length)).toEqual([1, 1]);
    expect(ended[0]!.endings).toEqual([{ code: 1008, reason: 'API key does not exist' }]);
    expect(others.map(({ endings }) => endings)).toEqual([[], []]);
    expect(streams.size()).toBe(2);
  });

  it('end with 1013 when their callers read nothing of many answers', async () => {
    start();
    const [deaf, reading] = [open('a', () => true, 1000), open('a', () => true, 1000)];
    deaf.unsent = 9 * 1024 * 1024;
    reading.unsent = 4 * 1024 * 1024;
    aheadMs = 1000;
    await expect.poll(() => deaf.endings).toEqual([{ code: 1013, reason: 'slow consumer' }]);
    await expect.poll(() => reading.ticks.length).toBe(2);
    expect(reading.endings).toEqual([]);
  });

  it('are called when they want it, and others are not called with them', async () => {
    start();
    const [soon, late] = [open('a', () => true, 15_000), open('a', () => true, 60_000)];
    aheadMs = 16_000;
    await expect.poll(() => soon.ticks.length).toBe(2);
    aheadMs = 32_000;
    await expect.poll(() => soon.ticks.length).toBe(3);
    expect(late.ticks).toHaveLength(1);
    aheadMs = 61_000;
    await expect.poll(() => late.ticks.length).toBe(2);
  });

  it('are called in a later sweep when they want a time that has passed, and the sweep ends', async () => {
    start();
    const eager = open('a', () => true, -1);
    await expect.poll(() => eager.ticks.length).toBeGreaterThan(2);
    expect(new Set(eager.ticks.map((ms) => Math.floor(ms / 100))).size).toBe(eager.ticks.length);
    eager.stream.closed();
    const { length } = eager.ticks;
    const other = open('a', () => true, -1);
    await expect.poll(() => other.ticks.length).toBeGreaterThan(2);
    expect(eager.ticks).toHaveLength(length);
  });

  it('are not called again when they end in a call', async () => {
    start();
    const ending = open(
      'a',
      () => true,
      -1,
      ({ stream }) => stream.closed(),
    );
    const other = open('a', () => true, -1);
    await expect.poll(() => other.ticks.length).toBeGreaterThan(3);
    expect(ending.ticks).toHaveLength(2);
  });
});
