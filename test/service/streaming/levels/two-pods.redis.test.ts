import * as fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';

import type { Change, Finality, StateChange, TraceSnapshot } from '#service/streaming/changes.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { countOf } from '#test/support/volume.ts';
import { account, hash, stateAt, trace, transaction, type Received } from '../hub/hub-under-test.ts';
import { createPods, startLinkedPod, type LinkedPod, type PodUnderTest } from './pods-under-test.ts';

// Random histories of a few traces on two pods. Each pod sees blocks at its own time, and makes snapshots of what is not final in its index.
// A caller moves between them. In half of the runs a pod loses Redis at times, and goes on alone.

const redisUrl = inject('redisUrl');

/** Half of them without a pod that loses Redis. */
const RUNS = countOf({ quick: 8, full: 20, long: 1_000 });

/** Ordinal of a trace among those of the moment: the one that ended last, and two that go on. */
const number = fc.nat({ max: 2 });
const pod = fc.nat({ max: 1 });

type Step =
  | {
      readonly kind: 'made';
      readonly pod: number;
      readonly key: number;
      readonly level: Finality;
      readonly version: number;
    }
  | { readonly kind: 'signed'; readonly pod: number; readonly ahead: number }
  | { readonly kind: 'gone'; readonly pod: number; readonly key: number }
  | { readonly kind: 'part'; readonly key: number }
  | { readonly kind: 'final' }
  | { readonly kind: 'follow'; readonly pod: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'away' | 'back'; readonly pod: number }
  | { readonly kind: 'come'; readonly pod: number }
  | { readonly kind: 'restart'; readonly pod: number };

const level = fc.constantFrom<Finality>('pending', 'confirmed');

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('made' as const), pod, key: number, level, version: fc.nat({ max: 2 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('signed' as const), pod, ahead: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), pod, key: number }) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ kind: fc.constant('part' as const), key: number }),
      fc.record({ kind: fc.constant('final' as const) }),
    ),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('follow' as const), pod }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('come' as const), pod }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), pod }) },
);

/** A pod loses Redis, or reaches it again. */
const link: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom('away' as const, 'back' as const), pod });

/**
 * A caller has the end of a trace, or a part of it, behind it. Then a pod that may be behind makes a snapshot of the trace, and the caller comes back.
 * @param losesRedis the pod to which the caller comes may have seen the end, and lost Redis since
 */
const lateSnapshot = (losesRedis: boolean): fc.Arbitrary<readonly Step[]> =>
  fc
    .record({
      isPart: fc.boolean(),
      at: pod,
      maker: pod,
      to: pod,
      key: number,
      level,
      isYoung: fc.boolean(),
      isAfter: fc.boolean(),
      isLost: losesRedis ? fc.boolean() : fc.constant(false),
    })
    .map(({ isPart, at, maker, to, key, level: made, isYoung, isAfter, isLost }) => {
      const snapshotStep: Step = { kind: 'made', pod: maker, key: isPart ? key : 0, level: made, version: 0 };
      const lost = ['follow', 'away', 'back'] as const;
      return [
        { kind: 'cut' },
        { kind: 'come', pod: at },
        isPart ? { kind: 'part', key } : { kind: 'final' },
        { kind: 'follow', pod: at },
        ...(isAfter ? [{ kind: 'cut' } as const, snapshotStep] : [snapshotStep, { kind: 'cut' } as const]),
        ...(isLost ? lost.map((kind) => ({ kind, pod: to })) : []),
        { kind: isYoung ? 'restart' : 'come', pod: to },
        ...(isPart ? [{ ...snapshotStep, pod: to, version: 1 }] : []),
      ];
    });

const historyOf = (linkWeight: number): fc.Arbitrary<readonly Step[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 30, arbitrary: step.map((one) => [one]) },
        { weight: 3, arbitrary: lateSnapshot(linkWeight > 0) },
        { weight: linkWeight, arbitrary: link.map((one) => [one]) },
      ),
      { minLength: 40, maxLength: 120, size: 'max' },
    )
    .map((steps) => steps.flat());

const wish = {
  accounts: new Set([account('A')]),
  types: new Set(['transactions', 'account_state_change'] as const),
  minFinality: 'pending' as const,
};

function snapshot(key: number, finality: Finality, version: number, over: Partial<TraceSnapshot> = {}): TraceSnapshot {
  return trace(hash(key), { finality, transactions: [transaction(`t${key} ${version}`, account('A'))], ...over });
}

const ranks = { pending: 1, confirmed: 2, finalized: 3 };

/** Traces of the last two snapshots of a run, which have no end. */
const last = [50, 51];

/**
 * Broken rules in the events of a caller. No level falls, and no content comes twice in a row. Each snapshot has one end, and nothing follows the end.
 */
function faultsOf(events: readonly Received[]): readonly string[] {
  const faults: string[] = [];
  const shown = new Map<string, { readonly rank: number; readonly text: string; readonly isEnd: boolean }>();
  let finalLt = 0;
  for (const { cursor: _, ...event } of events) {
    if (event.type === 'account_state_change') {
      const lt = Number((event['state'] as StateChange['state']).last_transaction_lt);
      if (lt <= finalLt) faults.push(`a state after its final one: ${JSON.stringify(event)}`);
      if (event.finality === 'finalized') finalLt = lt;
      continue;
    }
    const key = event.trace_external_hash_norm!;
    const before = shown.get(key);
    const text = JSON.stringify(event);
    if (before?.isEnd === true) faults.push(`after the end: ${text}`);
    if (event.type === 'trace_invalidated') {
      if (before === undefined) faults.push(`nothing was shown: ${text}`);
      if (before?.rank === ranks.finalized) faults.push(`withdrawn after a final part: ${text}`);
      shown.delete(key);
      continue;
    }
    const rank = ranks[event.finality as Finality];
    if (before !== undefined && rank < before.rank) faults.push(`fell: ${text}`);
    if (before?.text === text) faults.push(`twice: ${text}`);
    shown.set(key, { rank, text, isEnd: rank === ranks.finalized && event['is_incomplete'] !== true });
  }
  const unended = [...shown].filter(([key, { isEnd }]) => !isEnd && !last.some((one) => key === keyOf(one)));
  return [...faults, ...unended.map(([, { text }]) => `without an end: ${text}`)];
}

const isOfOrder = (fault: string): boolean => !fault.startsWith('without an end');

const keyOf = (one: number): string => Buffer.from(hash(one), 'hex').toString('base64');

const missing = skipLoudly(redisUrl === undefined, { what: 'levels of two pods', why: 'there is no Redis' });

describe.skipIf(missing)('two pods over one log of levels', () => {
  it.each([
    ['show', 0],
    ['that lose Redis at times show', 3],
  ])(
    '%s a caller that moves between them rising levels, each with its end, and nothing after it',
    async (_, weight) => {
      await fc.assert(
        fc.asyncProperty(historyOf(weight), async (steps) => {
          const scene = createPods(redisUrl!);
          try {
            scene.add(snapshot(100, 'finalized', 0));
            const pods: [LinkedPod, LinkedPod] = [
              await startLinkedPod(redisUrl!, scene),
              await startLinkedPod(redisUrl!, scene),
            ];
            // A caller that stays watches on each pod.
            const staying = pods.map((one) => one.open());
            for (const one of staying) await one.subscribe(wish);
            let moving = pods[0].open();
            await moving.subscribe(wish);
            /** Events between two resumes that are not full: a caller forgets there what is not final. */
            const events = [[moving.events]];
            const resumed: unknown[] = [];
            const endedAt = new Map<number, number>();
            const parts = new Set<number>();
            const isBegun = (key: number): boolean => parts.has(key) || endedAt.has(key);

            /** The index said so when the pod started. A state has the lt of the trace that ends in its block. */
            const isKnownFinal = (at: number, key: number): boolean =>
              (endedAt.get(key) ?? Infinity) <= pods[at]!.startedAt;

            let cursor: string | undefined;

            async function come(to: PodUnderTest, from: string): Promise<void> {
              moving = to.open();
              const done = moving.subscribe(wish, from);
              await expect.poll(() => moving.begun.length, { interval: 2 }).toBe(1);
              resumed.push(moving.begun[0]!.resumed);
              if (resumed.at(-1) === 'full') events.at(-1)!.push(moving.events);
              else events.push([moving.events]);
              // A pod that is behind the cursor goes on when it is as far.
              await to.follow();
              await done;
            }

            async function play(one: Step): Promise<void> {
              const key = Math.max(endedAt.size + ('key' in one ? one.key : 1), 1);
              if (one.kind === 'made') {
                if (isKnownFinal(one.pod, key)) return;
                await pods[one.pod]!.hub.publish([snapshot(key, one.level, one.version)]);
              } else if (one.kind === 'signed') {
                const lt = Math.max(endedAt.size + one.ahead, 1);
                if (!isKnownFinal(one.pod, lt)) await pods[one.pod]!.hub.publish([stateAt(lt, 'confirmed')]);
              } else if (one.kind === 'gone') {
                const change: Change = { kind: 'invalidation', key: hash(key), reason: 'expired' };
                // A message that a block took is never withdrawn.
                if (!isBegun(key)) await pods[one.pod]!.hub.publish([change]);
              } else if (one.kind === 'final') {
                const end = snapshot(key, 'finalized', 9, parts.has(key) ? { stage: 'last' } : {});
                endedAt.set(key, scene.add(end, stateAt(endedAt.size + 1, 'finalized')));
              } else if (one.kind === 'part') {
                if (isBegun(key)) return;
                parts.add(key);
                scene.add(snapshot(key, 'finalized', 8, { stage: 'first', isIncomplete: true }));
              } else if (one.kind === 'away' || one.kind === 'back') await pods[one.pod]!.setAway(one.kind === 'away');
              else if (one.kind === 'follow') await pods[one.pod]!.follow();
              else if (one.kind === 'cut') {
                cursor ??= moving.connection.cursor();
                moving.connection.close();
              } else if (cursor !== undefined) {
                // A pod that has just started knows the blocks of the index alone.
                if (one.kind === 'restart') pods[one.pod] = await startLinkedPod(redisUrl!, scene);
                await come(pods[one.pod]!, cursor);
                cursor = undefined;
              }
            }

            for (const one of steps) await play(one);
            for (const one of pods) await one.setAway(false);
            await play({ kind: 'come', pod: 1 });
            for (let at = 0; at < 2; at++) await play({ kind: 'final' });
            for (const one of pods) await one.follow();
            for (const [at, one] of pods.entries()) await one.hub.publish([snapshot(last[at]!, 'pending', 0)]);
            const isWhole = resumed.every((one) => one === 'full');
            expect(isWhole || weight > 0).toBe(true);
            // A snapshot needs no end where its caller forgets.
            const found = events.map((some) => faultsOf(some.flat()));
            expect(found.flatMap((some, at) => (at === found.length - 1 ? some : some.filter(isOfOrder)))).toEqual([]);
            const ends = events
              .flat(2)
              .filter(
                (event) =>
                  event.type === 'transactions' && event.finality === 'finalized' && event['is_incomplete'] !== true,
              );
            expect(ends.map((event) => event.trace_external_hash_norm)).toHaveLength(endedAt.size);
          } finally {
            await scene.close();
          }
        }),
        { numRuns: RUNS / 2, seed: 20261129, endOnFailure: true },
      );
    },
  );
});
