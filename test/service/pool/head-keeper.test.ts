import { setImmediate as turn } from 'node:timers/promises';

import * as fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';

import { blockText, FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Head, Tip } from '#service/pool/head.ts';
import { createHeadKeeper } from '#service/pool/head-keeper.ts';
import type { Member } from '#service/pool/member.ts';
import { PoolError } from '#service/pool/errors.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import type { PoolContext } from '#service/pool/reads.ts';
import { ProofError } from '#service/proof/errors.ts';
import { buildMember, unreadMetrics } from './member-builder.ts';

const hash = (seqno: number, fork: number): Buffer => {
  const bytes = Buffer.alloc(32, fork);
  bytes.writeUInt32BE(seqno);
  return bytes;
};

/** Returns a tip. `fork` 0 is the real chain; every other one is invented and cannot be proved. */
function tip(seqno: number, fork = 0): Tip {
  const rootHash = hash(seqno, fork);
  return {
    block: { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash, fileHash: rootHash },
    stateRootHash: hash(seqno, 99),
  };
}

/** Creates a keeper over members with scripted reports. Only the real chain can be proved. */
function keeperOver(count: number, prove: (tip: Tip, context: PoolContext) => Promise<void> = async () => undefined) {
  let nowMs = 1_000;
  const logger = pino({ level: 'silent' });
  const now = (): number => nowMs;
  // Reports come through `reported`; the connection is never used.
  const members: Member[] = Array.from({ length: count }, (_, index) => buildMember({ index, now }));
  const asked: Tip[] = [];
  const keeper = createHeadKeeper(
    { unproved: false, tuning: tuningDefaults },
    {
      members,
      metrics: unreadMetrics(),
      logger,
      now,
      prove: async (candidate, context): Promise<Head> => {
        asked.push(candidate);
        await prove(candidate, context);
        const real = tip(candidate.block.seqno);
        if (!real.block.rootHash.equals(candidate.block.rootHash)) {
          throw new ProofError('fork', { subject: blockText(candidate.block) });
        }
        const init = { workchain: MASTERCHAIN, rootHash: hash(0, 0), fileHash: hash(0, 0) };
        return { ...real, utime: candidate.block.seqno, endLt: 0n, keyBlockSeqno: 0, init };
      },
    },
  );
  const report = async (index: number, reported: Tip): Promise<void> => {
    members[index]?.reported(reported);
    keeper.consider();
    for (let i = 0; i < 5; i += 1) await turn();
  };
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { keeper, members, report, pass, asked };
}

describe('the served head', () => {
  test('the served head follows the reports of at least half', async () => {
    const { keeper, report } = keeperOver(3);
    await report(0, tip(10));
    expect(keeper.head()?.block.seqno).toBe(10);
    await report(1, tip(10));
    await report(2, tip(10));
    await report(0, tip(11));
    expect(keeper.head()?.block.seqno).toBe(10);
    await report(1, tip(11));
    expect(keeper.head()?.block.seqno).toBe(11);
  });

  test('the served head is not moved by an invented block, whose reporter is out for misbehaviour', async () => {
    const { keeper, report, members } = keeperOver(2);
    await report(0, tip(10));
    await report(1, tip(4_000_000, 7));
    expect(keeper.head()?.block.seqno).toBe(10);
    expect(members[1]?.health()).toMatchObject({ phase: 'out', cause: 'misbehaviour' });
    expect(members[0]?.health().phase).toBe('in');
  });

  test('a right block with a wrong state hash is served, and its reporter is out', async () => {
    const { keeper, report, members } = keeperOver(2);
    await report(0, { ...tip(10), stateRootHash: hash(1, 1) });
    expect(keeper.head()?.stateRootHash).toEqual(tip(10).stateRootHash);
    expect(members[0]?.health()).toMatchObject({ phase: 'out', cause: 'misbehaviour' });
  });

  test('a block whose proof hangs blocks no block below it', async () => {
    const { keeper, report, pass } = keeperOver(2, ({ block }) =>
      block.seqno > 1_000 ? new Promise(() => undefined) : Promise.resolve(),
    );
    await report(0, tip(1_000_000));
    pass(tuningDefaults.slowAfterMs);
    await report(1, tip(10));
    expect(keeper.head()?.block.seqno).toBe(10);
  });

  test('the first block has more time to be proved than later ones', async () => {
    const deadlines: number[] = [];
    const { report } = keeperOver(1, async (_tip, { deadlineMs }) => void deadlines.push(deadlineMs));
    await report(0, tip(10));
    await report(0, tip(11));
    expect(deadlines).toEqual([1_000 + tuningDefaults.firstProveTimeoutMs, 1_000 + tuningDefaults.proveTimeoutMs]);
  });

  test('a block is proved when the first server has it, and served without another proof when half have it', async () => {
    const { keeper, report, asked } = keeperOver(3);
    for (const index of [0, 1, 2]) await report(index, tip(10));
    await report(0, tip(11));
    expect(asked.map(({ block }) => block.seqno)).toEqual([10, 11]);
    expect(keeper.head()?.block.seqno).toBe(10);
    await report(1, tip(11));
    expect(keeper.head()?.block.seqno).toBe(11);
    expect(asked).toHaveLength(2);
  });

  test('a block that could not be proved from the first server is tried again as soon as half have it, and not before', async () => {
    let reachable = 10;
    const { keeper, report, asked, members } = keeperOver(3, async ({ block }) => {
      if (block.seqno > reachable) throw new PoolError('no_lite_server');
    });
    for (const index of [0, 1, 2]) await report(index, tip(10));
    for (let time = 0; time < 5; time += 1) await report(0, tip(11));
    expect(asked).toHaveLength(2);
    reachable = 11;
    await report(1, tip(11));
    expect(keeper.head()?.block.seqno).toBe(11);
    expect(members.map((member) => member.health().phase)).toEqual(['in', 'in', 'in']);
  });

  test('a block far above the served one is not proved before half have it', async () => {
    const { report, asked } = keeperOver(3);
    for (const index of [0, 1, 2]) await report(index, tip(10));
    await report(0, tip(14));
    expect(asked).toHaveLength(1);
  });

  test('a block that was refused is not tried again at once', async () => {
    const { report, asked, pass } = keeperOver(3, () => Promise.reject(new Error('not now')));
    await report(0, tip(10));
    await report(0, tip(10));
    expect(asked).toHaveLength(1);
    pass(tuningDefaults.refusedMs + 1);
    await report(0, tip(10));
    expect(asked).toHaveLength(2);
  });

  test('the served head never decreases and is always of the real chain, whatever is reported', async () => {
    const event = fc.record({
      index: fc.nat(4),
      seqno: fc.integer({ min: 1, max: 200 }),
      fork: fc.nat(3),
      passMs: fc.nat(20_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const { keeper, report, pass } = keeperOver(5);
        let before = 0;
        for (const { index, seqno, fork, passMs } of events) {
          pass(passMs);
          await report(index, tip(seqno, fork));
          const head = keeper.head();
          const after = head?.block.seqno ?? 0;
          expect(after).toBeGreaterThanOrEqual(before);
          expect(head?.block).toEqual(head && tip(after).block);
          before = after;
        }
        await keeper.close();
      }),
      { seed: 17, numRuns: 60 },
    );
  });
});
