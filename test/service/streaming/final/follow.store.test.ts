import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { StoreError } from '#service/store/errors.ts';
import type { Store } from '#service/store/store.ts';
import { WHOLE_BLOCK, type StateChange } from '#service/streaming/changes.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { createDraw } from '#test/support/draw.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { startFinalSource, type FinalSourceUnderTest } from './final-source-under-test.ts';

let index: StoreUnderTest;
let seqnos: readonly number[];
let last: number;
const started: FinalSourceUnderTest[] = [];

/** Starts a source that ends with its test. */
function start(store: Pick<Store, 'read' | 'transaction'> = index.store): FinalSourceUnderTest {
  const source = startFinalSource(store);
  started.push(source);
  return source;
}

const setTodo = (todo: boolean, from: number, to = from): Promise<unknown> =>
  index.store.transaction(({ query }) =>
    query('UPDATE interpretations SET todo = $1 WHERE mc_seqno BETWEEN $2 AND $3', [todo, from, to]),
  );

const givenSeqnos = ({ given }: FinalSourceUnderTest): number[] =>
  given.map(([first]) => (first as StateChange).position!.mcSeqno);

const newestOf = ({ source }: FinalSourceUnderTest): number | undefined => source.newest()?.mcSeqno;

beforeAll(async () => {
  index = await createClassifiedIndex(import.meta.filename);
  const rows = await index.store.read<{ seqno: number }>(
    'SELECT DISTINCT mc_seqno AS seqno FROM transactions ORDER BY 1',
  );
  seqnos = rows.map(({ seqno }) => seqno);
  last = seqnos.at(-1)!;
}, 400_000);
afterEach(async () => {
  for (const one of started.splice(0)) {
    one.release();
    await one.source.close();
  }
  await setTodo(false, 0, last);
});
afterAll(() => index.close());

/** Resolves when the source has looked once with what is wanted now. The look before may have begun earlier. */
async function untilLooked({ source }: FinalSourceUnderTest): Promise<void> {
  for (let look = 0; look < 2; look++) {
    const looked = source.status().lookedMs;
    await expect.poll(() => source.status().lookedMs, { interval: 5 }).not.toBe(looked);
  }
}

describe('a source of final changes', () => {
  it('gives no block while no connection is open, and moves with the index', async () => {
    await setTodo(true, last - 5, last);
    const source = start();
    await expect.poll(() => source.source.newest()).toEqual({ mcSeqno: last - 6, index: WHOLE_BLOCK });
    await setTodo(false, last - 5, last - 3);
    await expect.poll(() => newestOf(source)).toBe(last - 3);
    expect(source.given).toEqual([]);
  });

  it.each([false, true])(
    'has no news while no block is classified, although the index answers (open connections: %s)',
    async (isWanted) => {
      await setTodo(true, last);
      const source = start();
      await expect.poll(() => newestOf(source)).toBe(last - 1);
      source.want(isWanted);
      await untilLooked(source);
      const { seenMs } = source.source.status();
      await untilLooked(source);
      expect(source.source.status().seenMs).toBe(seenMs);
      await setTodo(false, last);
      await expect.poll(() => newestOf(source)).toBe(last);
      expect(source.source.status().seenMs).toBeGreaterThan(seenMs!);
    },
  );

  it('begins below a recent block that is not classified yet', async () => {
    await setTodo(true, last - 7);
    await setTodo(true, last - 2, last);
    const source = start();
    await expect.poll(() => newestOf(source)).toBe(last - 8);
  });

  it('gives every block once and in order, in whatever order the blocks are classified', async () => {
    const from = last - 40;
    await setTodo(true, from, last);
    const source = start();
    await expect.poll(() => newestOf(source)).toBe(from - 1);
    source.want(true);
    const draw = createDraw(7);
    const open = Array.from({ length: last - from + 1 }, (_, at) => from + at);
    while (open.length > 0) await setTodo(false, open.splice(draw(open.length), 1)[0]!);
    await expect.poll(() => newestOf(source)).toBe(last);
    expect(givenSeqnos(source)).toEqual(seqnos.filter((seqno) => seqno >= from));
    expect(source.source.status()).toMatchObject({ newestSeqno: last, troubles: [] });
  });

  it('reads the next block after the former one was distributed', async () => {
    await setTodo(true, last - 4, last);
    const source = start();
    await expect.poll(() => newestOf(source)).toBe(last - 5);
    source.want(true);
    source.hold();
    await setTodo(false, last - 4, last);
    await expect.poll(() => source.given.length).toBe(1);
    // The position is behind the block that is being distributed, and stays there.
    for (let look = 0; look < 5; look++) {
      await index.store.read('SELECT pg_sleep(0.02)');
      expect([newestOf(source), source.given.length]).toEqual([last - 4, 1]);
    }
    source.release();
    await expect.poll(() => newestOf(source)).toBe(last);
    expect(new Set(givenSeqnos(source)).size).toBe(source.given.length);
  });

  it('gives every block after the position at which a connection opened', async () => {
    await setTodo(true, last - 20, last);
    const source = start();
    await expect.poll(() => newestOf(source)).toBe(last - 21);
    for (let seqno = last - 20; seqno <= last; seqno++) {
      const isWanted = seqno % 5 > 1;
      const before = newestOf(source)!;
      const count = source.given.length;
      source.want(isWanted);
      await untilLooked(source);
      await setTodo(false, seqno);
      await expect.poll(() => newestOf(source)).toBe(seqno);
      const wanted = isWanted ? seqnos.filter((one) => one > before && one <= seqno) : [];
      expect(givenSeqnos(source).slice(count)).toEqual(wanted);
    }
  });

  it('goes on after failures of Postgres, without a loss', async () => {
    await setTodo(true, last - 10, last);
    const draw = createDraw(11);
    let failures = 0;
    // A look has several queries. More failures than of each eighth query would only prolong the pauses between looks.
    const fail = (): void => {
      if (draw(8) > 0) return;
      failures++;
      throw new StoreError('store_unavailable', 'away');
    };
    const read: Store['read'] = async (sql, values, options) => {
      fail();
      return index.store.read(sql, values, options);
    };
    const transaction: Store['transaction'] = async (work, options) => {
      fail();
      return index.store.transaction(work, options);
    };
    const source = start({ read, transaction });
    await expect.poll(() => newestOf(source)).toBe(last - 11);
    source.want(true);
    await setTodo(false, last - 10, last);
    await expect.poll(() => newestOf(source)).toBe(last);
    expect(givenSeqnos(source)).toEqual(seqnos.filter((seqno) => seqno >= last - 10));
    expect(failures).toBeGreaterThan(2);
  });

  it('says from which block on a resume is possible', async () => {
    const { store } = index;
    const source = start();
    await expect.poll(() => newestOf(source)).toBe(last);
    expect(await source.source.oldest()).toBe(seqnos[0]);
    const [row] = await store.read<{ seconds: number; seqno: number }>(
      `SELECT (max(gen_utime) - (array_agg(gen_utime ORDER BY seqno DESC))[30])::integer AS seconds,
         (SELECT min(seqno) FROM blocks b WHERE workchain = -1 AND gen_utime >= (array_agg(o.gen_utime ORDER BY o.seqno DESC))[30]) AS seqno
       FROM blocks o WHERE workchain = -1`,
    );
    const short = startFinalSource(store, { pollMs: 5, windowS: () => row!.seconds });
    started.push(short);
    await expect.poll(() => newestOf(short)).toBe(last);
    expect(await short.source.oldest()).toBe(row!.seqno);
    // A block that is missing in the middle bounds the window.
    const gap = last - 50;
    const taken = await store.transaction(({ query }) =>
      query<{ workchain: number }>('DELETE FROM blocks WHERE workchain = -1 AND seqno = $1 RETURNING *', [gap]),
    );
    expect(taken.length).toBe(1);
    const again = start();
    await expect.poll(() => newestOf(again)).toBe(last);
    expect(await again.source.oldest()).toBe(gap + 1);
    // Postgres crashed, and lacks the newest block until the indexer writes that block again.
    const behind = start();
    await expect.poll(() => newestOf(behind)).toBe(last);
    await store.transaction(({ query }) => query('DELETE FROM blocks WHERE workchain = -1 AND seqno = $1', [last]));
    await expect(behind.source.oldest()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
