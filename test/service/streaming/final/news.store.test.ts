import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { listenToClassified } from '#service/streaming/final/classified-news.ts';
import { ASIDE_MS_MIN, claimInterpretations } from '#service/store/interpretations.ts';
import type { StateChange, TraceSnapshot } from '#service/streaming/changes.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { startFinalSource, type FinalSourceUnderTest } from './final-source-under-test.ts';

/** No look of a source falls into a test: it goes on by news alone. */
const NEVER_MS = 3_600_000;

let index: StoreUnderTest;
let seqnos: readonly number[];
let last: number;
const started: FinalSourceUnderTest[] = [];

function start(pollMs: number): FinalSourceUnderTest {
  const { store } = index;
  const source = startFinalSource(store, { pollMs }, (onClassified) =>
    listenToClassified({
      store,
      onClassified,
      logger: pino({ level: 'silent' }),
      random: () => 0,
      unixMs: () => Date.now(),
    }),
  );
  started.push(source);
  return source;
}

const change = (sql: string, ...values: readonly unknown[]): Promise<unknown> =>
  index.store.transaction(({ query }) => query(sql, values));

const setTodo = (todo: boolean, from: number, to: number): Promise<unknown> =>
  change('UPDATE interpretations SET todo = $1, claimed_until = NULL WHERE mc_seqno BETWEEN $2 AND $3', todo, from, to);

/** Classifies the newest open block as the interpreter does. */
async function classifyNewest(): Promise<void> {
  const claim = { version: INTERPRETATION_VERSION, blocksMax: 1, claimMs: 60_000 };
  const claimed = (await claimInterpretations(index.store, claim))!;
  await index.store.transaction((session) => claimed.finish(session));
}

/** Process ids of the connections that listen. */
async function listening(): Promise<readonly number[]> {
  const rows = await index.store.read<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN tonplane_classified'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Resolves to the process id of the only connection that listens, once it is there. */
async function listener(): Promise<number> {
  await expect.poll(listening).toHaveLength(1);
  return (await listening())[0]!;
}

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
  for (const one of started.splice(0)) await one.source.close();
  await setTodo(false, 0, last);
  await change('UPDATE interpretations SET version = $1', INTERPRETATION_VERSION);
});
afterAll(() => index.close());

describe('news of classified blocks', () => {
  it('come with the commit, and the source gives the block without a look of its own', async () => {
    await setTodo(true, last - 3, last);
    const source = start(NEVER_MS);
    await listener();
    await expect.poll(() => newestOf(source)).toBe(last - 4);
    source.want(true);
    // The newest is classified first: the others wake the source too.
    for (let left = 4; left > 0; left--) await classifyNewest();
    await expect.poll(() => newestOf(source)).toBe(last);
    expect(givenSeqnos(source)).toEqual(seqnos.filter((seqno) => seqno > last - 4));
    const text = await source.register.metrics();
    expect(text).toMatch(/ton_streaming_final_lag_seconds_count 4\n/);
    expect(text).toMatch(/ton_streaming_final_behind_blocks 0\n/);
  });

  it('come again after the connection was lost', async () => {
    await setTodo(true, last, last);
    const source = start(NEVER_MS);
    const pid = await listener();
    await expect.poll(() => newestOf(source)).toBe(last - 1);
    source.want(true);
    await index.store.read('SELECT pg_terminate_backend($1)', [pid]);
    await expect.poll(async () => (await listening()).filter((one) => one !== pid)).toHaveLength(1);
    await classifyNewest();
    await expect.poll(() => newestOf(source)).toBe(last);
  });
});

describe('a block that the interpreter has put aside', () => {
  it('is given without its classification, marked, and the later blocks follow', async () => {
    const aside = (await endOfTrace())!;
    await setTodo(true, aside, last);
    const source = start(5);
    await expect.poll(() => newestOf(source)).toBe(aside - 1);
    source.want(true);
    await setTodo(false, aside + 1, last);
    await expect
      .poll(async () => source.register.getSingleMetricAsString('ton_streaming_final_behind_blocks'))
      .toContain(`ton_streaming_final_behind_blocks ${last - aside + 1}`);
    expect(newestOf(source)).toBe(aside - 1);
    await change(
      `UPDATE interpretations SET version = 0, claimed_until = now() + $2 * interval '1 millisecond' WHERE mc_seqno = $1`,
      aside,
      ASIDE_MS_MIN * 2,
    );
    await expect.poll(() => newestOf(source)).toBe(last);
    const traces = source.given[0]!.filter((one): one is TraceSnapshot => one.kind === 'trace');
    expect(traces.length).toBeGreaterThan(0);
    for (const one of traces) expect(one.isIncomplete).toBe(true);
    expect(await source.register.metrics()).toMatch(/ton_streaming_unclassified_blocks_total 1\n/);
    // A replay after the classification has it.
    await setTodo(false, aside, aside);
    await change('UPDATE interpretations SET version = $1', INTERPRETATION_VERSION);
    const again = await source.source.changesOf(aside, new AbortController().signal);
    expect(again.filter((one) => one.kind === 'trace').some(({ isIncomplete }) => !isIncomplete)).toBe(true);
  });

  it('does not hold back a source that has no connection', async () => {
    await change(
      `UPDATE interpretations SET todo = true, claimed_until = now() + interval '1 hour' WHERE mc_seqno = $1`,
      last - 3,
    );
    const source = start(5);
    await expect.poll(() => newestOf(source)).toBe(last);
  });
});

describe('a block that is to be classified again', () => {
  it('has its former changes in a replay until then', async () => {
    const source = start(5);
    await expect.poll(() => newestOf(source)).toBe(last);
    const { signal } = new AbortController();
    await setTodo(true, last, last);
    const changes = await source.source.changesOf(last, signal);
    expect(changes.length).toBeGreaterThan(0);
  });
});

/** Newest block in which a complete trace ends. */
async function endOfTrace(): Promise<number | undefined> {
  const [row] = await index.store.read<{ seqno: number }>(
    'SELECT max(mc_seqno_end) AS seqno FROM traces WHERE state = 0 AND mc_seqno_end < $1',
    [last - 2],
  );
  return row?.seqno;
}
