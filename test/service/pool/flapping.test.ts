import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import type { QueryOptions } from '#service/liteserver/liteserver.ts';
import { createHeadFollower } from '#service/pool/head-follower.ts';
import type { MemberDependencies } from '#service/pool/member.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { buildMember } from './member-builder.ts';
import { seededRandom } from './workload.ts';

const STEP_MS = 10;
const zeroState = { workchain: MASTERCHAIN, rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2) };

// The tests' clock does not reach the promises of timers by itself.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const timer = setTimeout(() => resolve(value), ms);
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
}));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(1, ms)));

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Simulates one lite server with the service's own settings. Blocks come each 2 s, and it answers while `isWell`. */
function watch(isWell: (nowMs: number) => boolean) {
  let nowMs = 0;
  const seqno = (): number => 100 + Math.floor(nowMs / 2_000);
  const server = {
    async query(fn: { name: string }, _args: unknown, { timeoutMs, waitMasterchain, signal }: QueryOptions) {
      const startedMs = nowMs;
      const silence = async (): Promise<never> => {
        await wait(startedMs + timeoutMs - nowMs);
        throw new LiteServerError('timeout', { serverCode: undefined, text: 'no answer', function: fn.name });
      };
      await wait(20);
      const isThere = (): boolean => waitMasterchain === undefined || seqno() >= waitMasterchain.seqno;
      while (!isThere() && !isAborted(signal)) {
        if (!isWell(nowMs)) await silence();
        if (nowMs - startedMs >= (waitMasterchain?.timeoutMs ?? 0))
          throw new LiteServerError('timeout', { serverCode: 652, text: 'timeout', function: fn.name });
        await wait(STEP_MS);
      }
      if (!isWell(nowMs)) await silence();
      const last = {
        workchain: MASTERCHAIN,
        shard: FULL_SHARD,
        seqno: seqno(),
        rootHash: Buffer.alloc(32),
        fileHash: Buffer.alloc(32),
      };
      return { last, stateRootHash: Buffer.alloc(32), init: zeroState };
    },
  } as unknown as MemberDependencies['server'];
  const member = buildMember({ server, now: () => nowMs });
  const follower = createHeadFollower(
    { zeroState, tuning: tuningDefaults },
    { member, onReport: () => undefined, isUrgent: () => false, now: () => nowMs },
  );
  const changes: { atMs: number; phase: string }[] = [];
  return {
    changes,
    run: async (untilMs: number): Promise<void> => {
      while (nowMs < untilMs) {
        nowMs += STEP_MS;
        await vi.advanceTimersByTimeAsync(STEP_MS);
        const { phase } = member.health();
        if (phase !== changes.at(-1)?.phase) changes.push({ atMs: nowMs, phase });
      }
    },
    close: async (): Promise<void> => {
      const closing = follower.close();
      await vi.advanceTimersByTimeAsync(20_000);
      await closing;
    },
  };
}

describe('a black-holed lite server', () => {
  test.each([1, 2, 3])(
    'a black-holed server is out within 2 s, in for none of the next 30 s and more, and back within 10 s: seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const goneMs = 10_000 + Math.floor(random() * 3_000);
      const backMs = goneMs + 45_000 + Math.floor(random() * 10_000);
      const { changes, run, close } = watch((nowMs) => nowMs < goneMs || nowMs >= backMs);
      await run(backMs + 40_000);
      await close();
      const [first, out, back] = changes.filter(({ phase }) => phase !== 'new');
      expect(changes.filter(({ phase }) => phase !== 'new').map(({ phase }) => phase)).toEqual(['in', 'out', 'in']);
      expect(first!.atMs).toBeLessThan(1_000);
      expect(out!.atMs - goneMs).toBeLessThanOrEqual(2_000);
      expect(back!.atMs - backMs).toBeLessThanOrEqual(10_000);
    },
  );

  test('a server that answers every few seconds only does not flap with each answer', async () => {
    // The server is well for 1 s of every 6 s, for a minute.
    const { changes, run, close } = watch((nowMs) => nowMs < 5_000 || nowMs % 6_000 < 1_000);
    await run(65_000);
    await close();
    const phases = changes.filter(({ phase }) => phase !== 'new');
    expect(phases.length).toBeLessThanOrEqual(2 + 2 * 10);
    // Its outages are counted, and each lasts longer, up to the longest pause.
    const outMs = phases.flatMap(({ atMs, phase }, index) => {
      const next = phases[index + 1];
      return phase === 'out' && next !== undefined ? [next.atMs - atMs] : [];
    });
    expect(Math.max(...outMs.slice(-3))).toBeGreaterThanOrEqual(Math.min(...outMs));
  });
});
