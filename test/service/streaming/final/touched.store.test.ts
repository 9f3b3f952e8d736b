import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Change } from '#service/streaming/changes.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { createDraw, oneOf } from '#test/support/draw.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { startFinalSource } from './final-source-under-test.ts';
import { someOf } from '#test/support/volume.ts';

const { signal } = new AbortController();

let index: StoreUnderTest;
let seqnos: readonly number[];

beforeAll(async () => {
  index = await createClassifiedIndex(import.meta.filename);
  const rows = await index.store.read<{ seqno: number }>('SELECT seqno FROM blocks WHERE workchain = -1 ORDER BY 1');
  seqnos = rows.map(({ seqno }) => seqno);
}, 400_000);
afterAll(() => index.close());

type Named = { readonly accounts: ReadonlySet<string>; readonly traces: ReadonlySet<string> };

/** Accounts and traces whose subscribers get a change. */
function namesOf(change: Change): Named {
  const none = new Set<string>();
  if (change.kind === 'state') return { accounts: new Set([change.account]), traces: none };
  if (change.kind === 'jetton') return { accounts: new Set(change.accounts), traces: none };
  if (change.kind === 'invalidation') return { accounts: none, traces: none };
  const accounts = [
    ...change.transactions.map(({ account }) => account),
    ...change.actions.flatMap((one) => one.accounts),
  ];
  return { accounts: new Set(accounts), traces: new Set(change.hashes) };
}

describe('the blocks that concern a subscription', () => {
  it.each(
    someOf(
      [
        ['traces that are sent in portions', { blocks: 1, transactions: 3 }],
        ['traces that are sent whole', { blocks: 32, transactions: 1000 }],
      ] as const,
      1,
    ),
  )('have all changes of its accounts and %s', async (_what, bounds) => {
    // The first source has the blocks in its memory, and the second asks the index.
    const { source } = startFinalSource(index.store, { pollMs: 5, bounds });
    const { source: bare } = startFinalSource(index.store, { pollMs: 5, bounds });
    const changes: { readonly seqno: number; readonly named: Named }[] = [];
    for (const seqno of seqnos) {
      for (const change of await source.changesOf(seqno, signal)) changes.push({ seqno, named: namesOf(change) });
    }
    const accounts = [...new Set(changes.flatMap(({ named }) => [...named.accounts]))].toSorted();
    const traces = [...new Set(changes.flatMap(({ named }) => [...named.traces]))].toSorted();
    const draw = createDraw(5);
    let skipped = 0;
    for (let run = 0; run < 150; run++) {
      const wish = {
        accounts: new Set(Array.from({ length: draw(4) }, () => oneOf(draw, accounts))),
        traces: new Set(Array.from({ length: draw(3) }, () => oneOf(draw, traces))),
      };
      const from = oneOf(draw, seqnos);
      const to = Math.min(seqnos.at(-1)!, from + draw(400));
      const { seqnos: touched, until } = await bare.touched(wish, { from, to }, signal);
      expect(until).toBe(to);
      const concern = ({ named }: { readonly named: Named }): boolean =>
        !named.accounts.isDisjointFrom(wish.accounts) || !named.traces.isDisjointFrom(wish.traces);
      const within = changes.filter((one) => one.seqno >= from && one.seqno <= to && concern(one));
      const wanted = [...new Set(within.map(({ seqno }) => seqno))];
      expect([wish, from, to, wanted.filter((seqno) => !touched.includes(seqno))]).toEqual([wish, from, to, []]);
      expect(touched).toEqual([...new Set(touched)].toSorted((a, b) => a - b));
      expect(touched.every((seqno) => seqno >= from && seqno <= to)).toBe(true);
      skipped += to - from + 1 - touched.length;
      const known = await source.touched(wish, { from, to }, signal);
      expect(known.until).toBeLessThanOrEqual(to);
      expect([wish, known.seqnos]).toEqual([wish, wanted.filter((seqno) => seqno <= known.until)]);
    }
    expect(skipped).toBeGreaterThan(1000);
    await Promise.all([source.close(), bare.close()]);
  });

  it('are looked for in a thousand blocks at a time', async () => {
    const { source } = startFinalSource(index.store);
    const range = { from: 1, to: 100_000 };
    expect((await source.touched({ accounts: new Set(), traces: new Set() }, range, signal)).until).toBe(1000);
    await source.close();
  });
});
