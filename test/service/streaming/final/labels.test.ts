import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { createLabels, type FreshLabels, type LabelsDependencies } from '#service/streaming/final/labels.ts';
import { account } from '../hub/hub-under-test.ts';

const a = account('A');
const b = account('B');

type LabelsUnderTest = {
  readonly labels: FreshLabels;
  readonly clock: { nowMs: number };
  /** Form of each account in the index. */
  form: string;
  /** Reads of the index. */
  reads: number;
  /** Resolves when a read may end. */
  gate: Promise<void>;
};

const { signal } = new AbortController();

function labelsUnderTest(): LabelsUnderTest {
  const clock = { nowMs: 0 };
  const notesOf = (async (addresses: Iterable<string | null>) => {
    state.reads++;
    const { form } = state;
    await state.gate;
    const book = Object.fromEntries([...addresses].map((address) => [address, form]));
    return { address_book: { toJSON: () => book }, metadata: { toJSON: () => ({}) } };
  }) as unknown as LabelsDependencies['notes']['notesOf'];
  const labels = createLabels({
    notes: { notesOf },
    reader: { read: () => Promise.reject(new Error('no query is made here')), signal },
    clock: () => clock.nowMs,
    logger: pino({ level: 'silent' }),
  });
  const state: LabelsUnderTest = { labels, clock, form: 'UQ', reads: 0, gate: Promise.resolve() };
  return state;
}

const changed = (of: string) =>
  ({
    kind: 'state',
    account: of,
    finality: 'finalized',
    position: null,
    state: { last_transaction_lt: null },
  }) as const;

describe('labels of accounts', () => {
  it('are read once for all events of 30 seconds', async () => {
    const state = labelsUnderTest();
    const { labels, clock } = state;
    expect(await labels.addressBook([a, b], signal)).toEqual({ [a]: 'UQ', [b]: 'UQ' });
    state.form = 'EQ';
    clock.nowMs = 29_999;
    expect(await labels.addressBook([a, b], signal)).toEqual({ [a]: 'UQ', [b]: 'UQ' });
    clock.nowMs = 30_000;
    expect(await labels.addressBook([a, b], signal)).toEqual({ [a]: 'EQ', [b]: 'EQ' });
    expect(state.reads).toBe(2);
  });

  it('are those of the index after a block that changes one of the accounts, and the earlier ones for other accounts', async () => {
    const state = labelsUnderTest();
    const { labels } = state;
    await labels.addressBook([a, b], signal);
    await labels.addressBook([b], signal);
    state.form = 'EQ';
    labels.note([changed(a)]);
    expect(await labels.addressBook([a, b], signal)).toEqual({ [a]: 'EQ', [b]: 'EQ' });
    expect(await labels.addressBook([b], signal)).toEqual({ [b]: 'UQ' });
    expect(await labels.addressBook([a, b], signal)).toEqual({ [a]: 'EQ', [b]: 'EQ' });
    expect(state.reads).toBe(3);
  });

  it('are not those of a read that began before the block', async () => {
    const state = labelsUnderTest();
    const { labels } = state;
    const { promise, resolve } = Promise.withResolvers<void>();
    state.gate = promise;
    const before = labels.addressBook([a], signal);
    labels.note([changed(a)]);
    state.form = 'EQ';
    const after = labels.addressBook([a], signal);
    resolve();
    expect([await before, await after]).toEqual([{ [a]: 'UQ' }, { [a]: 'EQ' }]);
    expect(await labels.addressBook([a], signal)).toEqual({ [a]: 'EQ' });
  });
});
