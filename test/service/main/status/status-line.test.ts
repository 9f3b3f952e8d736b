import { PassThrough } from 'node:stream';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createStatusLine, formatStatus, type StatusFacts } from '#service/main/status/status-line.ts';

const facts: StatusFacts = {
  headSeqno: 700,
  index: undefined,
  liteServersUsable: 1,
  liteServers: 2,
  requests: 42,
  lastSeqno: 1000,
  aheadSeconds: 0,
  paceSeconds: 1,
};

describe('the status line', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    [facts, 'head 700 of 1000, ends in 5m 0s | lite servers 1/2 | requests 42, 3.5/s'],
    [{ ...facts, headSeqno: 1000 }, 'head 1000 of 1000, ended | lite servers 1/2 | requests 42, 3.5/s'],
    [
      { ...facts, lastSeqno: undefined, index: 'index 699 of 700 (1 behind)' },
      'head 700 | index 699 of 700 (1 behind) | lite servers 1/2 | requests 42, 3.5/s',
    ],
    [{ ...facts, lastSeqno: undefined }, 'head 700 | lite servers 1/2 | requests 42, 3.5/s'],
    [{ ...facts, headSeqno: undefined }, 'waiting for a head | lite servers 1/2 | requests 42, 3.5/s'],
  ])('of %j', (given, expected) => {
    expect(formatStatus(given, 3.5)).toBe(expected);
  });

  it('rewrites itself each second on a terminal, with the rate since the last time', async () => {
    const { output, text } = stream(true);
    let requests = 0;
    const line = createStatusLine(
      { output },
      { facts: () => Promise.resolve({ ...facts, requests: (requests += 10) }) },
    );
    await vi.advanceTimersByTimeAsync(2000);
    line.close();
    expect(text().split('\r').slice(1)).toEqual([
      'head 700 of 1000, ends in 5m 0s | lite servers 1/2 | requests 10, 10.0/s\u001B[K',
      'head 700 of 1000, ends in 5m 0s | lite servers 1/2 | requests 20, 10.0/s\u001B[K\n',
    ]);
  });

  it('writes one line a minute to a file', async () => {
    const { output, text } = stream(false);
    const line = createStatusLine({ output }, { facts: () => Promise.resolve(facts) });
    await vi.advanceTimersByTimeAsync(120_000);
    line.close();
    expect(text().trimEnd().split('\n')).toHaveLength(2);
  });

  it('is silent once closed', async () => {
    const { output, text } = stream(true);
    createStatusLine({ output }, { facts: () => Promise.resolve(facts) }).close();
    await vi.advanceTimersByTimeAsync(5000);
    expect(text()).toBe('\n');
  });
});

function stream(isTTY: boolean): { output: NodeJS.WriteStream; text: () => string } {
  const chunks: string[] = [];
  const through = new PassThrough();
  through.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  return {
    output: Object.assign(through, { isTTY, columns: 200 }) as unknown as NodeJS.WriteStream,
    text: () => {
      const rest = through.read() as Buffer | null;
      return chunks.join('') + (rest?.toString() ?? '');
    },
  };
}
