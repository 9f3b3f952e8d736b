import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';

import { createBodyReader } from '#service/http/body.ts';

const { signal } = new AbortController();

function message(bytes: number): IncomingMessage {
  const stream = Object.assign(new PassThrough(), { headers: {} });
  stream.end(Buffer.alloc(bytes));
  return stream as unknown as IncomingMessage;
}

describe('the reader of bodies', () => {
  test('returns a long body some turns of the event loop later, after short bodies that came with it', async () => {
    const reader = createBodyReader(1_000_000, 1_000_000);
    const read: number[] = [];
    const sizes = [16_385, 16_384, 100_000, 1];
    await Promise.all(sizes.map(async (bytes) => read.push((await reader.read(message(bytes), signal)).length)));
    expect(read.slice(0, 2).toSorted((a, b) => a - b)).toEqual([1, 16_384]);
    expect(read.slice(2).toSorted((a, b) => a - b)).toEqual([16_385, 100_000]);
  });

  test('returns each long body in a turn of the event loop of its own', async () => {
    const reader = createBodyReader(1_000_000, 10_000_000);
    const readTurn = async (): Promise<number> => {
      await reader.read(message(100_000), signal);
      return performance.nodeTiming.uvMetricsInfo.loopCount;
    };
    const turns = await Promise.all(Array.from({ length: 9 }, readTurn));
    expect(new Set(turns).size).toBe(turns.length);
  });

  test('rejects with the reason of a signal that aborts while a long body waits for its turn', async () => {
    const ending = new AbortController();
    const reader = createBodyReader(1_000_000, 1_000_000);
    const long = message(100_000);
    const reading = reader.read(long, ending.signal);
    long.once('end', () => setImmediate(() => ending.abort(new Error('the caller is gone'))));
    await expect(reading).rejects.toThrow('the caller is gone');
  });
});
