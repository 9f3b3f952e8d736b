import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TRACE_STATE } from '#service/store/trace-plan.ts';
import type { TraceSnapshot } from '#service/streaming/changes.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { startFinalSource, type FinalSourceUnderTest } from './final-source-under-test.ts';

const { signal } = new AbortController();

let index: StoreUnderTest;
let seqnos: readonly number[];
let whole: FinalSourceUnderTest;

beforeAll(async () => {
  index = await createClassifiedIndex(import.meta.filename);
  const rows = await index.store.read<{ seqno: number }>('SELECT seqno FROM blocks WHERE workchain = -1 ORDER BY 1');
  seqnos = rows.map(({ seqno }) => seqno);
  whole = startFinalSource(index.store);
}, 400_000);
afterAll(async () => {
  await whole.source.close();
  await index.close();
});

async function tracesOf({ source }: FinalSourceUnderTest): Promise<readonly TraceSnapshot[]> {
  const traces: TraceSnapshot[] = [];
  for (const seqno of seqnos) {
    const changes = await source.changesOf(seqno, signal);
    traces.push(...changes.filter((one): one is TraceSnapshot => one.kind === 'trace'));
  }
  return traces;
}

const hashesOf = ({ transactions }: TraceSnapshot): string[] => transactions.map(({ hash }) => hash);

/** Transactions that an event for the whole scope has. */
function sentBy(change: TraceSnapshot): readonly string[] {
  if (change.stage === 'open') return [];
  if (change.stage !== 'last') return hashesOf(change);
  return hashesOf(change).filter((hash) => change.fresh === undefined || change.fresh.has(hash));
}

describe('traces that stay open', () => {
  it.each([
    ['beyond a bound of blocks', { blocks: 1, transactions: 1000 }],
    ['beyond a bound of transactions', { blocks: 1000, transactions: 2 }],
    ['beyond both', { blocks: 2, transactions: 3 }],
  ])('%s are sent in portions, each transaction once, and whole when they end', async (_what, bounds) => {
    const bounded = startFinalSource(index.store, { pollMs: 5, bounds });
    const [portions, wanted] = [await tracesOf(bounded), await tracesOf(whole)];
    await bounded.source.close();
    const stages = Map.groupBy(portions, ({ stage }) => stage);
    expect(['first', 'last'].filter((stage) => !stages.has(stage as 'first'))).toEqual([]);
    const wholeOf = new Map(wanted.filter(({ stage }) => stage === undefined).map((one) => [one.hashes.at(-1), one]));
    for (const [name, parts] of Map.groupBy(portions, ({ hashes }) => hashes.at(-1))) {
      const ended = wholeOf.get(name);
      const sent = parts.flatMap(sentBy);
      expect(new Set(sent).size).toBe(sent.length);
      if (ended === undefined) continue;
      expect(sent.toSorted()).toEqual(hashesOf(ended).toSorted());
      const end = parts.at(-1)!;
      expect([end.stage ?? 'last', end.isIncomplete, hashesOf(end)]).toEqual(['last', false, hashesOf(ended)]);
      expect(end.tree).toEqual(ended.tree);
      expect(end.actions.length).toBe(ended.actions.length);
      expect(parts.slice(0, -1).every(({ isIncomplete }) => isIncomplete)).toBe(true);
      expect(parts.filter(({ stage }) => stage === 'first').length).toBeLessThanOrEqual(1);
    }
  });

  it('have the first portion as their present snapshot until they end', async () => {
    const bounded = startFinalSource(index.store, { pollMs: 5, bounds: { blocks: 1, transactions: 1000 } });
    await expect.poll(() => bounded.source.newest()?.mcSeqno).toBe(seqnos.at(-1));
    const parts = await tracesOf(bounded);
    const first = parts.find(
      ({ stage, hashes }) =>
        stage === 'first' && parts.some((one) => one.stage === 'last' && one.hashes[0] === hashes[0]),
    )!;
    const found = (): Promise<TraceSnapshot | undefined> => bounded.source.findTrace(first.key, signal);
    expect(await found()).toMatchObject({ stage: 'last', isIncomplete: false });
    const id = Buffer.from(first.hashes.at(-1)!, 'hex');
    await index.store.transaction(({ query }) =>
      query('UPDATE traces SET state = $1 WHERE trace_id = $2', [TRACE_STATE.pending, id]),
    );
    expect(await found()).toMatchObject({ stage: 'first', isIncomplete: true, position: first.position });
    await bounded.source.close();
  });
});
