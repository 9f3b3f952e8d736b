import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';

import type { SourceBlocks } from '#service/indexer/source.ts';
import { createBlockStream } from '#service/indexer/stream.ts';
import { createRetry } from '#service/runtime/retry.ts';
import type { TransactionRow } from '#service/store/tables.ts';
import { noRows } from '#test/support/block-rows.ts';

/** Reads masterchain blocks 1 to 9 with a file and a single transaction of these bytes. */
function streamOf({ file, boc }: { readonly file: number; readonly boc: number }, bytesMax: number) {
  const closing = new AbortController();
  onTestFinished(() => closing.abort(new Error('closed')));
  return createBlockStream(
    { first: 1, itemsMax: 9, bytesMax },
    {
      source: {
        read: async (mcSeqno) =>
          ({
            mcSeqno,
            utime: 0,
            masterchain: { boc: Buffer.alloc(file) },
            shards: [],
            zeroStates: [],
          }) as unknown as SourceBlocks,
      },
      toRows: async ({ mcSeqno }) => ({
        ...noRows(mcSeqno),
        transactions: [{ boc: Buffer.alloc(boc) } as unknown as TransactionRow],
      }),
      retry: createRetry({
        logger: pino({ level: 'silent' }),
        random: () => 0,
        unixMs: () => 0,
        onFailure: vi.fn<() => void>(),
        isFinal: () => true,
      }),
      last: () => 9,
      awaitItem: () => new Promise(() => undefined),
      signal: closing.signal,
    },
  );
}

const limits = { itemsMax: 9, bytesMax: 2_000_000 };

it.each([
  ['rows', { file: 1_000, boc: 1_000_000 }],
  ['files', { file: 1_000_000, boc: 1_000 }],
])('blocks are taken within the bytes of their %s when these are more', async (_, sizes) => {
  const stream = streamOf(sizes, 100_000_000);
  expect(await stream.take(limits, true)).toHaveLength(2);
  await expect.poll(() => stream.bufferedBytes()).toBeGreaterThan(6_900_000);
});

it('a block beyond every bound is taken alone', async () => {
  const stream = streamOf({ file: 1_000, boc: 5_000_000 }, 4_000_000);
  for (let block = 1; block <= 9; block++) expect(await stream.take(limits, true)).toHaveLength(1);
});
