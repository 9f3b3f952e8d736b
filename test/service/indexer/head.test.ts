import { pino } from 'pino';
import { expect, it, vi } from 'vitest';

import { createHeadFlow } from '#service/indexer/head.ts';
import { tuningDefaults } from '#service/indexer/options.ts';
import { createRetry, pause } from '#service/runtime/retry.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import type { HeadLease } from '#service/store/lease.ts';
import type { BlockRows } from '#service/store/tables.ts';

const logger = pino({ level: 'silent' });
const HEAD = 200;

function blocksOf(mcSeqno: number): SourceBlocks {
  const id = {
    workchain: -1,
    shard: 1n << 63n,
    seqno: mcSeqno,
    rootHash: Buffer.alloc(32),
    fileHash: Buffer.alloc(32),
  };
  const masterchain = { id, boc: Buffer.alloc(1000) };
  return { mcSeqno, utime: 0, masterchain, shards: [], zeroStates: [], tops: [], globalVersion: undefined };
}

it('who has lost the lease on the head holds no block that was read for it', async () => {
  const closing = new AbortController();
  const lost = new AbortController();
  const lease: HeadLease = {
    epoch: 1n,
    signal: lost.signal,
    advance: () => Promise.resolve(),
    moveTo: () => Promise.resolve(1),
    release: () => Promise.resolve(),
  };
  const leases = [lease];
  const flow = createHeadFlow(
    { ...tuningDefaults, leaseRetryMs: 5 },
    {
      source: {
        head: () => ({ seqno: HEAD, utime: 0 }),
        waitHead: (_after, ms, signal) => pause(ms, signal),
        read: (mcSeqno) => Promise.resolve(blocksOf(mcSeqno)),
      },
      toRows: ({ mcSeqno }) => Promise.resolve({ mcSeqno, transactions: [] } as unknown as BlockRows),
      retry: createRetry({
        logger,
        random: () => 0,
        unixMs: Date.now,
        onFailure: vi.fn<() => void>(),
        isFinal: () => false,
      }),
      signal: closing.signal,
      writer: { write: (_stream, _blocks, _turn, signal) => pause(60_000, signal) },
      acquireLease: () => Promise.resolve(leases.pop()),
      logger,
    },
  );
  await expect.poll(() => flow.bufferedBytes()).toBeGreaterThan(1000);
  lost.abort(new Error('the session ended'));
  await expect.poll(() => flow.isWriter()).toBe(false);
  expect(flow.bufferedBytes()).toBe(0);
  closing.abort(new Error('the test is over'));
  await flow.done;
});
