import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Change, EventType, Finality, Subscription, TraceSnapshot } from '#service/streaming/changes.ts';
import { account, action, base64, createHubUnderTest, hash, trace, transaction, wishOf } from './hub-under-test.ts';

// Random histories of a few traces, against a model of the rules of levels alone. The model lists each event that a caller must see.

const letters = ['A', 'B', 'C'] as const;

type Level = 'pending' | 'confirmed' | 'final';

type Step =
  | {
      readonly kind: Level;
      readonly key: number;
      /** Run that simulated the tail. */
      readonly version: number;
      readonly touched: readonly string[];
      /** Accounts whose transactions are in blocks: each run has the same ones. */
      readonly real?: readonly string[];
    }
  | { readonly kind: 'gone'; readonly key: number };

const touched = fc.subarray([...letters], { minLength: 1 });
const real = fc.subarray([...letters]);
const number = fc.integer({ min: 1, max: 3 });
const stepAt = <const L extends Level>(kind: L) =>
  fc.record({ kind: fc.constant(kind), key: number, version: number, touched, real });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: stepAt('pending') },
  { weight: 2, arbitrary: stepAt('confirmed') },
  { weight: 1, arbitrary: stepAt('final') },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), key: number }) },
);

const wish: fc.Arbitrary<Subscription> = fc
  .record({
    types: fc.subarray<EventType>(['transactions', 'actions', 'trace'], { minLength: 1 }),
    watched: fc.subarray([...letters]),
    traces: fc.subarray([1, 2, 3]),
    minFinality: fc.constantFrom<Finality>('pending', 'confirmed', 'finalized'),
  })
  .map(({ types, watched, traces, minFinality }) =>
    wishOf({
      types: new Set(types),
      accounts: new Set(watched.map(account)),
      traces: new Set(types.includes('trace') ? traces.map(hash) : []),
      minFinality,
    }),
  );

type Seen = Exclude<Step, { kind: 'gone' }>;

const finalityOf = { pending: 'pending', confirmed: 'confirmed', final: 'finalized' } as const;
const levels: readonly Level[] = ['pending', 'confirmed', 'final'];

/** A transaction of a block, or of a run, by its account. */
const nameOf = ({ kind, version, real: inBlocks = [] }: Seen, letter: string): string =>
  kind === 'final' || inBlocks.includes(letter) ? `real${letter}` : `${version}${letter}`;

function snapshotOf(one: Seen): TraceSnapshot {
  const { kind, key, version, touched: letter } = one;
  return trace(hash(key), {
    finality: finalityOf[kind],
    transactions: letter.map((of) => transaction(`${key}${nameOf(one, of)}`, account(of))),
    actions: [action('transfer', [account(letter[0]!)], `${version}`)],
  });
}

/** Events that the rules demand, as short texts. */
function demanded(steps: readonly Step[], { types, accounts: watched, traces, minFinality }: Subscription): string[] {
  const events: string[] = [];
  const ended = new Set<number>();
  const shown = new Map<number, Map<EventType, { readonly level: number; readonly text: string }>>();
  for (const one of steps) {
    const { key } = one;
    if (ended.has(key)) continue;
    const before = shown.get(key) ?? new Map<EventType, { readonly level: number; readonly text: string }>();
    if (one.kind === 'gone') {
      if (before.size > 0) events.push(`${key} gone`);
      shown.delete(key);
      continue;
    }
    if (one.kind === 'final') ended.add(key);
    const level = levels.indexOf(one.kind);
    if (level < levels.findIndex((of) => finalityOf[of] === minFinality)) continue;
    const isNamed = traces.has(hash(key));
    const mine = one.touched.filter((letter) => watched.has(account(letter)));
    const content: Partial<Record<EventType, string>> = {
      ...(mine.length > 0 && { transactions: mine.map((letter) => nameOf(one, letter)).join() }),
      ...(mine.includes(one.touched[0]!) && { actions: `${one.version}${one.touched[0]}` }),
      ...(isNamed && { trace: `${one.version}${one.touched.map((letter) => nameOf(one, letter)).join()}` }),
    };
    // A lower level says nothing about what was shown at a higher one.
    const isLost = [...before].some(([type, last]) => content[type] === undefined && level >= last.level);
    if (isLost && !isNamed) {
      events.push(`${key} unmatched`);
      before.clear();
    }
    for (const type of ['transactions', 'actions', 'trace'] as const) {
      const now = content[type];
      if (!types.has(type) || now === undefined) continue;
      const last = before.get(type);
      if (last !== undefined && (level < last.level || (level === last.level && last.text === now))) continue;
      events.push(`${key} ${type} ${one.kind}`);
      before.set(type, { level, text: now });
    }
    if (one.kind === 'final') shown.delete(key);
    else shown.set(key, before);
  }
  return events;
}

const contents = (list: readonly object[]): unknown[] => list.map((event) => ({ ...event, cursor: '' }));

const keyOf = new Map([1, 2, 3].map((key) => [base64(hash(key)), key]));

describe('events of a connection', () => {
  it('equal those of the model for any history of simulated, real and mixed traces, and any subscription', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(wish, { minLength: 1, maxLength: 4 }),
        async (steps, wishes) => {
          const { hub, block, open } = createHubUnderTest();
          const callers = wishes.map((one) => ({ one, caller: open() }));
          for (const { one, caller } of callers) await caller.subscribe(one);
          const ended = new Set<number>();
          for (const one of steps) {
            // A trace becomes final once.
            if (one.kind === 'final' && ended.has(one.key)) continue;
            if (one.kind === 'gone')
              await hub.publish([{ kind: 'invalidation', key: hash(one.key), reason: 'expired' }]);
            else if (one.kind === 'final') await block(snapshotOf(one));
            else await hub.publish([snapshotOf(one)]);
            if (one.kind === 'final') ended.add(one.key);
          }
          for (const { one, caller } of callers) {
            const got = caller.events.map(({ type, finality, reason, trace_external_hash_norm: norm }) => {
              const key = keyOf.get(norm!);
              if (type === 'trace_invalidated') return `${key} ${reason === 'unmatched' ? 'unmatched' : 'gone'}`;
              return `${key} ${type} ${finality === 'finalized' ? 'final' : finality}`;
            });
            expect(got).toEqual(demanded(steps, one));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are the same at each level for a caller that is cut anywhere and resumes, at whichever of its events', async () => {
    const history = fc.array(fc.tuple(step, fc.boolean()), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(history, wish, async (steps, one) => {
        const { hub, block, open } = createHubUnderTest();
        const whole = open('whole');
        await whole.subscribe(one);
        let cut = open('cut');
        await cut.subscribe(one);
        const events = [cut.events];
        const ended = new Set<number>();
        const hasKeys = one.accounts.size + one.traces.size > 0;
        for (const [next, isCut] of steps) {
          if (next.kind === 'final' && ended.has(next.key)) continue;
          const cursor = cut.connection.cursor();
          if (isCut) cut.connection.close();
          if (next.kind === 'gone')
            await hub.publish([{ kind: 'invalidation', key: hash(next.key), reason: 'expired' }]);
          else if (next.kind === 'final') await block(snapshotOf(next));
          else await hub.publish([snapshotOf(next)]);
          if (next.kind === 'final') ended.add(next.key);
          if (!isCut) continue;
          cut = open('cut');
          await cut.subscribe(one, cursor);
          expect(cut.begun).toMatchObject([
            { resumed: hasKeys || one.minFinality === 'finalized' ? 'full' : 'finalized' },
          ]);
          events.push(cut.events);
        }
        expect(contents(events.flat())).toEqual(contents(whole.events));
        for (const [at, { cursor }] of whole.events.entries()) {
          const again = open('whole');
          await again.subscribe(one, cursor);
          expect(again.begun).toMatchObject([{ resumed: 'full' }]);
          expect(contents(again.events)).toEqual(contents(whole.events.slice(at + 1)));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('begin for a caller that names traces with the newest one of each, and go on as for a caller that was there before', async () => {
    const level = fc.constantFrom<Finality>('pending', 'confirmed', 'finalized');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), level, fc.nat(24), async (steps, minFinality, begin) => {
        const { hub, block, open, log } = createHubUnderTest();
        const one = wishOf({ types: new Set(['trace']), traces: new Set([1, 2, 3].map(hash)), minFinality });
        const whole = open();
        await whole.subscribe(one);
        const late = open();
        let shown = 0;
        for (const [at, next] of steps.entries()) {
          if (at === begin) {
            await late.subscribe(one);
            shown = whole.events.length;
          }
          if (next.kind === 'final' && log.found.has(hash(next.key))) continue;
          if (next.kind === 'gone')
            await hub.publish([{ kind: 'invalidation', key: hash(next.key), reason: 'expired' }]);
          else if (next.kind === 'final') {
            await block(snapshotOf(next));
            const [end] = await log.changesOf(log.newest()!.mcSeqno, new AbortController().signal);
            log.found.set(hash(next.key), end as TraceSnapshot);
          } else await hub.publish([snapshotOf(next)]);
        }
        if (steps.length <= begin) return;
        const newest = new Map(whole.events.slice(0, shown).map((event) => [event.trace_external_hash_norm!, event]));
        const present = [1, 2, 3].flatMap((key) => newest.get(base64(hash(key))) ?? []);
        const wanted = present.filter(({ type }) => type === 'trace');
        expect(contents(late.events)).toEqual(contents([...wanted, ...whole.events.slice(shown)]));
      }),
      { numRuns: 300 },
    );
  });

  it('are the same final ones for a caller that is cut anywhere, on any of two pods, as for one that is not', async () => {
    const block = fc.array(fc.record({ touched, kind: fc.constant('final' as const) }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(block, fc.boolean()), { maxLength: 12 }), wish, async (blocks, one) => {
        const first = createHubUnderTest();
        const second = createHubUnderTest({ log: first.log });
        const whole = first.open();
        await whole.subscribe(one);
        let cut = second.open();
        await cut.subscribe(one, whole.begun[0]!.cursor);
        const events = [cut.events];
        let key = 0;
        for (const [traces, isCut] of blocks) {
          const changes: Change[] = traces.map((each) => snapshotOf({ ...each, key: ++key, version: 1 }));
          const mcSeqno = first.log.add(changes);
          const placed = await first.log.changesOf(mcSeqno, new AbortController().signal);
          await Promise.all([first.hub.publish(placed), second.hub.publish(placed)]);
          if (!isCut) continue;
          // The cursor of any event that was written is as good as the newest.
          const cursor = cut.connection.cursor();
          cut.connection.close();
          cut = (mcSeqno % 2 === 0 ? first : second).open();
          await cut.subscribe(one, cursor);
          events.push(cut.events);
        }
        expect(contents(events.flat())).toEqual(contents(whole.events));
        for (const event of whole.events) {
          const again = second.open();
          await again.subscribe(one, event.cursor);
          const at = whole.events.indexOf(event);
          expect(contents(again.events)).toEqual(contents(whole.events.slice(at + 1)));
        }
      }),
      { numRuns: 100 },
    );
  });
});
