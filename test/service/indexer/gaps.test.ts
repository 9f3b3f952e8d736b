import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';

import { startGapSearch } from '#service/indexer/gaps.ts';
import { createRetry } from '#service/runtime/retry.ts';

const logger = pino({ level: 'silent' });
const newRetry = () =>
  createRetry({ logger, random: () => 0, unixMs: () => 0, onFailure: vi.fn<() => void>(), isFinal: () => false });

type Given = Pick<Parameters<typeof startGapSearch>[0], 'extent' | 'isMine'> & { readonly gapsAt?: number };

/** Starts a search; `asked` has the ranges in which gaps were looked for. */
function search({ extent, isMine, gapsAt }: Given) {
  const closing = new AbortController();
  const asked: string[] = [];
  const warned: unknown[] = [];
  const { done } = startGapSearch({
    extent,
    isMine,
    queueGaps: async (from, to) => {
      asked.push(`${from}-${to}`);
      return gapsAt !== undefined && from <= gapsAt && gapsAt <= to ? [{ from: gapsAt, to: gapsAt }] : [];
    },
    retry: newRetry(),
    signal: closing.signal,
    logger: { ...logger, warn: (gap: unknown) => warned.push(gap) },
  });
  const close = async (): Promise<void> => {
    closing.abort(new Error('closed'));
    await done;
  };
  return { asked, warned, close };
}

describe('the search for missing blocks', () => {
  it('the search asks in spans of 50,000 blocks up to the last, and logs what it queues', async () => {
    const { asked, warned, close } = search({
      extent: async () => ({ from: 3, to: 50_010 }),
      isMine: () => true,
      gapsAt: 50_007,
    });
    await expect.poll(() => asked).toEqual(['3-50002', '50003-50010']);
    await expect.poll(() => warned).toEqual([{ from: 50_007, to: 50_007 }]);
    await close();
  });

  it('the search waits until it is the work of this process, and ends when it is not', async () => {
    const turns = [false, true, false];
    let extents = 0;
    const { asked, close } = search({
      extent: async () => (extents++, { from: 1, to: 100 }),
      isMine: () => turns.shift() ?? false,
    });
    await expect.poll(() => extents).toBe(1);
    await close();
    expect(asked).toEqual([]);
  });

  it('an index without blocks is not searched', async () => {
    let extents = 0;
    const { asked, close } = search({
      extent: async () => {
        extents += 1;
        return undefined;
      },
      isMine: () => true,
    });
    await expect.poll(() => extents).toBe(1);
    await close();
    expect(asked).toEqual([]);
  });
});
