import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import type { QueryOptions } from '#service/liteserver/liteserver.ts';
import { createHeadFollower } from '#service/pool/head-follower.ts';
import type { MemberDependencies } from '#service/pool/member.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { buildMember } from './member-builder.ts';
import { quickTuning, until } from './network.ts';

const zeroState = { workchain: MASTERCHAIN, rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2) };
const tuning = { ...tuningDefaults, ...quickTuning };

function block(seqno: number): BlockId {
  return {
    workchain: MASTERCHAIN,
    shard: FULL_SHARD,
    seqno,
    rootHash: Buffer.alloc(32, seqno),
    fileHash: Buffer.alloc(32),
  };
}

function refusal(serverCode: number, text: string): LiteServerError {
  return new LiteServerError('unsupported', { serverCode, text, function: 'getMasterchainInfo' });
}

const now = (): number => performance.now();

/** Follows a lite server. `answer` gives or throws its answer to the n-th query, from 0. */
function follow(answer: (turn: number, waits: boolean) => Promise<BlockId> | BlockId) {
  const asked: { waits: boolean; seqno: number | undefined }[] = [];
  const server = {
    async query(_fn: unknown, _args: unknown, { waitMasterchain, signal }: QueryOptions) {
      signal?.throwIfAborted();
      asked.push({ waits: waitMasterchain !== undefined, seqno: waitMasterchain?.seqno });
      const last = await answer(asked.length - 1, waitMasterchain !== undefined);
      return { last, stateRootHash: Buffer.alloc(32), init: zeroState };
    },
  } as unknown as MemberDependencies['server'];
  const member = buildMember({ server, tuning });
  const follower = createHeadFollower(
    { zeroState, tuning },
    { member, onReport: () => undefined, isUrgent: () => false, now },
  );
  return { member, follower, asked };
}

/** Least milliseconds between two queries to a lite server, as in the product. */
const LEAST_GAP_MS = 20;

/** Milliseconds that a timer may be early: timers round to whole ones. */
const EARLY_MS = 1;

describe('following the head of one lite server', () => {
  test('a lite server is asked once, then waits for each next block', async () => {
    const { member, follower, asked } = follow((turn) =>
      turn < 5 ? block(10 + turn) : delay(600_000, block(0), { ref: false }),
    );
    await until(() => asked.length === 6);
    expect(asked).toEqual([
      { waits: false, seqno: undefined },
      ...[11, 12, 13, 14, 15].map((seqno) => ({ waits: true, seqno })),
    ]);
    expect(member.tip()?.block.seqno).toBe(14);
    void follower.close();
  });

  test('a lite server that refuses to wait is polled', async () => {
    const { member, follower, asked } = follow((turn, waits) => {
      if (waits) throw refusal(621, 'unknown query');
      return block(10 + turn);
    });
    await until(() => asked.length >= 6);
    await follower.close();
    expect(asked.filter(({ waits }) => waits)).toHaveLength(1);
    expect(member.tip()?.block.seqno).toBeGreaterThan(11);
    expect(member.health().phase).toBe('in');
  });

  test('a lite server that answers a wait at once without a newer block is not asked in a busy loop', async () => {
    const startedMs = now();
    const { follower, asked } = follow(() => block(10));
    await until(() => asked.length >= 6);
    await follower.close();
    expect(now() - startedMs).toBeGreaterThanOrEqual(5 * (tuning.pollMs - EARLY_MS));
  });

  test('a lite server that claims a new block at every query is not asked in a busy loop', async () => {
    const startedMs = now();
    const { follower, asked } = follow((turn) => block(10 + turn));
    await until(() => asked.length >= 10);
    await follower.close();
    expect(now() - startedMs).toBeGreaterThanOrEqual(9 * (LEAST_GAP_MS - EARLY_MS));
  });

  test('a wait that ends without a block is no failure', async () => {
    const { member, follower, asked } = follow((_turn, waits) => {
      if (waits) throw refusal(652, 'timeout');
      return block(10);
    });
    await until(() => asked.length >= 8);
    await follower.close();
    expect(member.health()).toMatchObject({ phase: 'in', failures: { report: 0 } });
  });

  test('a newest block of a shard is not accepted', async () => {
    const { member, follower, asked } = follow(() => ({ ...block(10), workchain: 0 }));
    await until(() => asked.length >= 2);
    await follower.close();
    expect(member.tip()).toBe(undefined);
    expect(member.health().phase).toBe('new');
  });
});
