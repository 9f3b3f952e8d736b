import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';

import { isTurnOver } from '#service/indexer/batch-writer.ts';
import { createHeadFlow, type HeadFlowDependencies } from '#service/indexer/head.ts';
import { tuningDefaults } from '#service/indexer/options.ts';
import { createRetry, pause } from '#service/runtime/retry.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import { StoreError } from '#service/store/errors.ts';
import type { HeadLease } from '#service/store/lease.ts';
import { noRows } from '#test/support/block-rows.ts';

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

/** A lease that ends with `lost`. */
function leaseOf(lost: AbortController, more: Partial<HeadLease> = {}): HeadLease {
  return {
    epoch: 1n,
    signal: lost.signal,
    advance: () => Promise.resolve(),
    moveTo: (seqno) => Promise.resolve(seqno),
    release: () => Promise.resolve(),
    ...more,
  };
}

type Scene = {
  /** Answers of one attempt after the other to take the lease; later attempts find it taken. */
  readonly leases: readonly (HeadLease | Error | undefined)[];
  readonly write?: HeadFlowDependencies['writer']['write'];
  /** Times that the head is not known yet. */
  readonly unknown?: number;
};

/** Follows a head at `HEAD`. */
function followHead({
  leases,
  write = (_stream, _blocks, _turn, signal) => pause(60_000, signal),
  unknown = 0,
}: Scene) {
  const closing = new AbortController();
  const left = [...leases];
  const seen = { asked: 0, waits: unknown };
  const flow = createHeadFlow(
    { ...tuningDefaults, leaseRetryMs: 5 },
    {
      source: {
        head: () => (seen.waits > 0 ? undefined : { seqno: HEAD, utime: 0 }),
        async waitHead(after, ms, signal) {
          if (after > 0) return pause(ms, signal);
          seen.waits--;
        },
        read: (mcSeqno) => Promise.resolve(blocksOf(mcSeqno)),
      },
      toRows: ({ mcSeqno }) => Promise.resolve(noRows(mcSeqno)),
      retry: createRetry({
        logger,
        random: () => 0,
        unixMs: Date.now,
        onFailure: vi.fn<() => void>(),
        isFinal: isTurnOver,
      }),
      signal: closing.signal,
      writer: { write },
      async acquireLease() {
        seen.asked++;
        const next = left.shift();
        if (next instanceof Error) throw next;
        return next;
      },
      logger,
    },
  );
  const close = async (): Promise<void> => {
    closing.abort(new Error('the test is over'));
    await flow.done;
  };
  return { flow, seen, close };
}

describe('the head', () => {
  it('who has lost the lease on the head holds no block that was read for it', async () => {
    const lost = new AbortController();
    const { flow, close } = followHead({ leases: [leaseOf(lost, { moveTo: () => Promise.resolve(1) })] });
    await expect.poll(() => flow.bufferedBytes()).toBeGreaterThan(1000);
    lost.abort(new Error('the session ended'));
    await expect.poll(() => flow.isWriter()).toBe(false);
    expect(flow.bufferedBytes()).toBe(0);
    await close();
  });

  it('a process without the lease writes nothing and asks for the lease again', async () => {
    const write = vi.fn<HeadFlowDependencies['writer']['write']>();
    const { flow, seen, close } = followHead({ leases: [], write });
    await expect.poll(() => seen.asked).toBeGreaterThan(2);
    expect([flow.isWriter(), flow.position(), flow.bufferedBytes()]).toEqual([false, undefined, 0]);
    await close();
    expect(write).not.toHaveBeenCalled();
  });

  it('the first block waits until the head is known, and the position is that of the newest written block', async () => {
    const written: number[] = [];
    const { flow, seen, close } = followHead({
      leases: [undefined, leaseOf(new AbortController(), { moveTo: () => Promise.resolve(HEAD - 2) })],
      unknown: 2,
      write: async (_stream, blocks) => void written.push(...blocks.map(({ rows }) => rows.mcSeqno)),
    });
    await expect.poll(() => flow.position()).toEqual({ seqno: HEAD, utime: 0 });
    expect([written, seen.asked, seen.waits]).toEqual([[HEAD - 2, HEAD - 1, HEAD], 2, 0]);
    await close();
    expect([flow.isWriter(), flow.position()]).toEqual([false, undefined]);
  });

  it('a writer whose turn is over gives the lease back, also over a broken connection, and takes a later lease', async () => {
    const release = vi.fn<HeadLease['release']>(() => Promise.reject(new Error('the connection broke')));
    const failures = [new StoreError('lease_lost', 'another process writes the head now')];
    const { flow, close } = followHead({
      leases: [leaseOf(new AbortController(), { release }), undefined, leaseOf(new AbortController())],
      async write() {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    });
    await expect.poll(() => flow.position()).toEqual({ seqno: HEAD, utime: 0 });
    expect([flow.isWriter(), release.mock.calls.length]).toEqual([true, 1]);
    await close();
  });

  it('an error that no further attempt changes ends the head', async () => {
    const { flow } = followHead({ leases: [new StoreError('lease_lost', 'another process writes the head now')] });
    await expect(flow.done).rejects.toThrow('another process writes the head now');
  });
});
