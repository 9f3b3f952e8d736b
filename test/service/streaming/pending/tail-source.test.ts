import { setImmediate } from 'node:timers/promises';

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import type { Change, TraceSnapshot } from '#service/streaming/changes.ts';
import {
  createTailSource,
  type TailOutcome,
  type TailSourceDependencies,
} from '#service/streaming/pending/tail-source.ts';
import { account, hash, trace, transaction } from '../hub/hub-under-test.ts';

type Setting = Partial<Pick<TailSourceDependencies, 'snapshotOf' | 'findPending'>> & {
  readonly watched?: string;
  readonly claim?: (work: string) => Promise<boolean>;
};

/** A tail source whose snapshots are named by their change. */
function open({ watched = account('A'), claim = async () => true, ...over }: Setting = {}) {
  const published: Change[] = [];
  const asked: TraceSnapshot[] = [];
  const outcomes: TailOutcome[] = [];
  const source = createTailSource({
    snapshotOf: async (change) => {
      asked.push(change);
      return trace(change.key, { finality: 'pending', transactions: change.transactions });
    },
    findPending: async () => undefined,
    hub: {
      publish: async (changes) => void published.push(...changes),
      watchesPending: ({ accounts }) => [...accounts].includes(watched),
      claim,
    },
    counted: (outcome) => void outcomes.push(outcome),
    logger: pino({ level: 'silent' }),
    ...over,
  });
  return { source, published, asked, outcomes };
}

const openTrace = (number: number, over: Partial<TraceSnapshot> = {}): TraceSnapshot =>
  trace(hash(number), { stage: 'open', transactions: [transaction(`t${number}`, account('A'))], ...over });

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}

const namesOf = (changes: readonly Change[]): string[] =>
  changes.flatMap((change) => (change.kind === 'trace' ? change.transactions.map((one) => one.hash) : []));

describe('the source of tails', () => {
  it('shows traces that are open and watched, and no others', async () => {
    const { source, published } = open();
    source.note([
      openTrace(1),
      openTrace(2, { transactions: [transaction('t2', account('B'))] }),
      openTrace(3, { traceId: 'no message from outside' }),
      trace(hash(4), { transactions: [transaction('t4', account('A'))] }),
      openTrace(5, { stage: 'first' }),
      { kind: 'invalidation', key: hash(6), reason: 'expired' },
    ]);
    await settled();
    expect(namesOf(published)).toEqual(['t1']);
    await source.close();
  });

  it('goes by both ends of the messages, so that a receiver is shown what is on its way', async () => {
    const { source, published } = open({ watched: account('C') });
    const onWay = { ...transaction('t1', account('A')), named: [account('A'), account('C')] };
    source.note([openTrace(1, { transactions: [onWay] })]);
    await settled();
    expect(namesOf(published)).toEqual(['t1']);
    await source.close();
  });

  it('leaves out traces that this service sent, which are shown whole', async () => {
    const { source, published } = open({ findPending: async (key) => trace(key) });
    source.note([openTrace(1)]);
    await settled();
    expect(published).toEqual([]);
    await source.close();
  });

  it('leaves a tail to the pod that claimed it first, and claims the next block again', async () => {
    const claimed = [`${hash(1)}:7`];
    const claim = async (work: string): Promise<boolean> => !claimed.includes(work) && claimed.push(work) > 0;
    const { source, published, outcomes } = open({ claim });
    source.note([openTrace(1, { position: { mcSeqno: 7, index: 0 } })]);
    await settled();
    source.note([openTrace(1, { position: { mcSeqno: 8, index: 0 } })]);
    await settled();
    expect(namesOf(published)).toEqual(['t1']);
    expect(outcomes).toEqual(['elsewhere', 'shown']);
    await source.close();
  });

  it.each<[what: string, later: TraceSnapshot, shown: string[]]>([
    ['its end', trace(hash(1)), []],
    ['more of it', openTrace(1, { transactions: [transaction('later', account('A'))] }), ['later']],
  ])('shows nothing of a trace when a later block has %s meanwhile', async (_what, later, shown) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { source, published, outcomes } = open({
      async snapshotOf(change) {
        if (change !== later) await promise;
        return trace(change.key, { finality: 'pending', transactions: change.transactions });
      },
    });
    source.note([openTrace(1)]);
    await settled();
    source.note([later]);
    resolve();
    await settled();
    expect(namesOf(published)).toEqual(shown);
    expect(outcomes).toEqual(['outdated', ...shown.map(() => 'shown')]);
    await source.close();
  });

  it('goes on after a simulation that failed', async () => {
    const { source, published, outcomes } = open({
      async snapshotOf(change) {
        if (change.key === hash(1)) throw new Error('the lite server is away');
        return change;
      },
    });
    source.note([openTrace(1), openTrace(2)]);
    await settled();
    expect(namesOf(published)).toEqual(['t2']);
    expect(outcomes).toEqual(['failed', 'shown']);
    await source.close();
  });

  it('counts a trace without a message on its way as empty', async () => {
    const { source, published, outcomes } = open({ snapshotOf: async () => undefined });
    source.note([openTrace(1)]);
    await settled();
    expect([published, outcomes]).toEqual([[], ['empty']]);
    await source.close();
  });

  it('leaves out the oldest of more traces than it can simulate', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { source, published, outcomes } = open({
      async snapshotOf(change) {
        await promise;
        return change;
      },
    });
    source.note([openTrace(0)]);
    await settled();
    source.note(Array.from({ length: 100 }, (_, at) => openTrace(at + 1)));
    resolve();
    while (published.length < 65) await settled();
    expect(namesOf(published)).toEqual(['t0', ...Array.from({ length: 64 }, (_, at) => `t${at + 37}`)]);
    expect(outcomes.filter((outcome) => outcome === 'displaced')).toHaveLength(36);
    await source.close();
  });
});
