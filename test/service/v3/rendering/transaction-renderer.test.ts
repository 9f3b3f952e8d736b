import { beforeAll, describe, expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import { addressesOf } from '#service/v3/rendering/assemble-transaction.ts';
import { createPackedCache, type PackedCache } from '#service/v3/rendering/packed-cache.ts';
import type { TransactionNames } from '#service/v3/rendering/stored-transactions.ts';
import { createTransactionRenderer, type TransactionRenderer } from '#service/v3/rendering/transaction-renderer.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { recordedRows, statesIn } from '#test/support/recorded-index.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

let rows: readonly FoundTransaction[];
let states: ReadonlyMap<string, AccountStateRow>;

beforeAll(async () => {
  const recorded = await recordedRows();
  states = statesIn(recorded);
  rows = recorded
    .flatMap(({ transactions }) => transactions)
    .slice(-300)
    .map((row) => ({ ...row, trace_id: row.hash, global_version: 11 }) as unknown as FoundTransaction);
});

/** Reads the states that are known. */
const readerOf = (known: ReadonlyMap<string, AccountStateRow>): StoreReader => ({
  read: async (_sql, [hashes]) => (hashes as Buffer[]).flatMap((one) => known.get(text(one)) ?? []) as never,
});

function createWriter(bytesMax = 16_000_000): { readonly writer: TransactionRenderer; readonly found: boolean[] } {
  const found: boolean[] = [];
  const packed = createPackedCache<TransactionNames>({ bytesMax });
  const cache: PackedCache<TransactionNames> = {
    ...packed,
    async find(keys, timeSlice) {
      const cached = await packed.find(keys, timeSlice);
      found.push(...keys.map((key) => cached.has(key)));
      return cached;
    },
  };
  return { writer: createTransactionRenderer({ cache }), found };
}

async function answer(writer: TransactionRenderer, given: readonly FoundTransaction[], known = states) {
  const opened = await writer.open(given, readerOf(known));
  const written = await opened.write(readerOf(known));
  const views = written.map(({ json }) => json.toJSON());
  return { views, trees: written.map(({ hash, in_msg, out_msgs }) => ({ hash, in_msg, out_msgs })), opened };
}

/** Answers, the second of which fills the cache. */
async function answerTwice(writer: TransactionRenderer, given: readonly FoundTransaction[]) {
  const first = await answer(writer, given);
  await answer(writer, given);
  return first;
}

/** Those that stay written. */
async function settledOf(given: readonly FoundTransaction[]): Promise<readonly FoundTransaction[]> {
  const { writer, found } = createWriter();
  await answerTwice(writer, given);
  found.length = 0;
  await answer(writer, given);
  return given.filter((_row, at) => found[at]);
}

const namedIn = (views: readonly TransactionView[]): readonly string[] =>
  [...addressesOf(views)].filter((one) => one !== null);

const balancesBefore = (views: readonly TransactionView[]) => views.map((view) => view.account_state_before?.balance);

describe('transactions that are asked for again', () => {
  it('are told as the first time, all of it, and without their cells', async () => {
    const { writer, found } = createWriter();
    const first = await answerTwice(writer, rows);
    expect(found).not.toContain(true);
    const isWhole = first.views.map((view) =>
      [view.account_state_before, view.account_state_after].every((state) => state?.balance !== null),
    );
    const whole = rows.filter((_row, at) => isWhole[at]);
    expect(whole.length).toBeGreaterThan(100);
    const again = await answer(
      writer,
      whole.map((row) => ({ ...row, boc: Buffer.alloc(0) })),
      new Map(),
    );
    expect(again.views).toEqual(first.views.filter((_view, at) => isWhole[at]));
    expect(again.trees).toEqual(first.trees.filter((_tree, at) => isWhole[at]));
    expect(again.opened.accounts).toEqual(namedIn(again.views));
    expect(found.slice(2 * rows.length)).toEqual(whole.map(() => true));
  });

  it('are not read where only their places are given, and the others are', async () => {
    const { writer } = createWriter();
    const whole = await answer(createWriter().writer, rows);
    await answerTwice(writer, rows.slice(100, 200));
    const settled = new Set((await settledOf(rows.slice(100, 200))).map(({ hash }) => text(hash)));
    const asked: string[] = [];
    const reader: StoreReader = {
      read: async (sql, values, mode) => {
        if (mode?.statement !== 'transactions_at') return readerOf(states).read(sql, values);
        const wanted = (values[0] as Buffer[]).map(text);
        asked.push(...wanted);
        // In no order, and one is gone.
        const found = rows.toReversed().filter((row) => wanted.includes(text(row.hash)) && row !== rows[7]);
        return found as never;
      },
    };
    const places = rows.map(({ hash, lt, account, trace_id }) => ({ hash, lt, account, trace_id }));
    const opened = await writer.openAt(places, reader);
    const views = (await opened.write(reader)).map(({ json }) => json.toJSON());
    expect(views).toEqual(whole.views.filter((_view, at) => at !== 7));
    expect(asked).toEqual(rows.map(({ hash }) => text(hash)).filter((hash) => !settled.has(hash)));
    expect(settled.size).toBeGreaterThan(30);
  });

  it('keep their places among others', async () => {
    const { writer } = createWriter();
    await answerTwice(writer, rows.slice(100, 200));
    const { views, opened } = await answer(writer, rows);
    expect(views).toEqual((await answer(createWriter().writer, rows)).views);
    expect(opened.accounts).toEqual(namedIn(views));
  });

  it('tell the states that became known in between', async () => {
    const { writer } = createWriter();
    const before = await answer(writer, rows, new Map());
    await answer(writer, rows, new Map());
    const after = await answer(writer, rows);
    expect(after.views).toEqual((await answer(createWriter().writer, rows)).views);
    expect(after.views).not.toEqual(before.views);
  });

  it('have the balance before that they tell themselves until the state before is known, and then all of it', async () => {
    const some = rows.filter(({ workchain }) => workchain === 0);
    const { writer } = createWriter();
    const whole = (await answer(createWriter().writer, some)).views;
    const ends = new Set(whole.map((view) => view.account_state_after?.hash));
    const first = await answer(writer, some, new Map([...states].filter(([hash]) => ends.has(hash))));
    expect(balancesBefore(first.views)).toEqual(balancesBefore(whole));
    expect(first.views).not.toEqual(whole);
    // What it had beside its coins is not told by the transaction.
    const partial = first.views.map((view) => view.account_state_before).filter((one) => !ends.has(one!.hash));
    expect(new Set(partial.map((one) => (one!.account_status === 'nonexist' ? null : one!.extra_currencies)))).toEqual(
      new Set([null]),
    );
    expect((await answer(writer, some)).views).toEqual(whole);
  });

  it('transactions that are read again have the trace found since', async () => {
    const { writer } = createWriter();
    await answerTwice(writer, rows);
    const other = Buffer.alloc(32, 7);
    const { views } = await answer(
      writer,
      rows.map((row) => ({ ...row, trace_id: other })),
    );
    expect(new Set(views.map((view) => view.trace_id))).toEqual(new Set([other.toString('base64')]));
  });

  it('are read again when they did not fit', async () => {
    const { writer, found } = createWriter(20_000);
    const first = await answerTwice(writer, rows);
    expect((await answer(writer, rows)).views).toEqual(first.views);
    expect(found.slice(2 * rows.length)).toContain(false);
  });

  it('have the messages that they have: an answer of too many is refused', async () => {
    const { writer, found } = createWriter();
    await answerTwice(writer, rows);
    const many = Array.from({ length: 200 }, () => rows).flat();
    await expect(writer.open(many, readerOf(states))).rejects.toMatchObject({ code: 'answer_too_large' });
    expect(found.slice(2 * rows.length)).toContain(true);
  });

  it.each(['rendered', 'cached'])(
    'take their bytes from the answer when they are %s, and end it above its size',
    async (how) => {
      const { writer } = createWriter();
      const given = await settledOf(rows);
      if (how === 'cached') await answerTwice(writer, given);
      let bytes = 0;
      const takeBytes = (more: number): void => void (bytes += more);
      const opened = await writer.open(given, { ...readerOf(states), takeBytes });
      const written = await opened.write(readerOf(states));
      const length = written.flatMap(({ json }) => json.parts).reduce((sum, part) => sum + Buffer.byteLength(part), 0);
      // States come to rendered texts later, and names are packed with cached texts.
      expect(bytes / length).toBeGreaterThan(0.6);
      expect(bytes / length).toBeLessThan(1.6);
      let taken = 0;
      const refuse = (more: number): void => {
        taken += more;
        if (taken > bytes / 2) throw new Error('too large');
      };
      await expect(writer.open(given, { ...readerOf(states), takeBytes: refuse })).rejects.toThrow('too large');
      expect(taken).toBeLessThan(bytes * 0.9);
    },
  );

  it('are read no further once their reader is aborted', async () => {
    const { writer } = createWriter();
    const ended = new AbortController();
    const reader = { ...readerOf(states), signal: ended.signal };
    let opened = 0;
    const counted = new Proxy([...rows], {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name) && ++opened === 3) ended.abort('over');
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
    await expect(writer.open(counted, reader)).rejects.toBe('over');
    expect(opened).toBe(3);
  });

  it.each([
    ['that sent messages', (sent: number) => sent > 0],
    ['that sent none', (sent: number) => sent === 0],
  ])('are rendered no further once their reader is aborted: transactions %s', async (_case, isChosen) => {
    const { trees } = await answer(createWriter().writer, rows);
    const chosen = rows.filter((_row, at) => isChosen(trees[at]!.out_msgs.length));
    const ended = new AbortController();
    let rendered = 0;
    const counted = chosen.map((row) => ({
      ...row,
      get boc() {
        if (++rendered === 3) ended.abort('over');
        return row.boc;
      },
    }));
    const reader = { ...readerOf(states), signal: ended.signal };
    await expect(createWriter().writer.open(counted, reader)).rejects.toBe('over');
    expect(rendered).toBe(3);
  });
});
