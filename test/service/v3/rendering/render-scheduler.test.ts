import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createUtf8Buffer } from '#service/contract/utf8-buffer.ts';
import { createRenderPool, startRenderPool, type RenderPool } from '#service/v3/rendering/render-pool.ts';
import { scheduleRendering, type RenderTask } from '#service/v3/rendering/render-scheduler.ts';
import { openTransaction } from '#service/v3/rendering/assemble-transaction.ts';
import type { PartialTransactionJson } from '#service/v3/rendering/transaction-json.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

const logger = pino({ level: 'silent' });
const threads = createRenderPool({ threads: 2 }, { logger });
afterAll(() => threads.close());

let tasks: readonly RenderTask[];
let expected: readonly object[];

beforeAll(async () => {
  const rows = (await recordedRows()).flatMap((one) => one.transactions).slice(-900);
  tasks = rows.map((given) => {
    const row = { ...given, boc: Buffer.from(given.boc), trace_id: given.hash, global_version: 12 };
    const shown = row as unknown as RenderTask['row'];
    return { row: shown, sent: openTransaction(shown).transaction.outMessages.length };
  });
  expected = told(await scheduleRendering(tasks, { slab: createUtf8Buffer() }));
});

/** What heads say, wherever they were written. */
const told = (heads: readonly PartialTransactionJson[]): readonly object[] =>
  heads.map(({ in_msg, out_msgs, pieces }) => ({ in_msg, out_msgs, text: Buffer.concat(pieces).toString() }));

/** Counts the rows that are given away. */
function counting(write: RenderPool['write']): {
  readonly given: () => number;
  readonly threads: Pick<RenderPool, 'write'>;
} {
  let given = 0;
  return {
    given: () => given,
    threads: {
      write: (rows) => {
        const writing = write(rows);
        if (writing !== undefined) given += rows.length;
        return writing;
      },
    },
  };
}

describe('heads of transactions', () => {
  it('are objects but for their end', () => {
    expect(tasks.length).toBe(900);
    for (const [at, { row }] of tasks.entries()) {
      const { text } = expected[at] as { text: string };
      const object = JSON.parse(`${text}}`) as Readonly<Record<string, unknown>>;
      expect(object['hash']).toBe(Buffer.from(row.hash).toString('base64'));
      expect(Object.keys(object).at(-1)).toBe('out_msgs');
    }
  });

  it('are the same when threads help, in the same order', async () => {
    const { threads: helping, given } = counting((rows) => threads.write(rows));
    const counts = { thread: 0, event_loop: 0 };
    const written = (count: number, place: keyof typeof counts): void => void (counts[place] += count);
    const heads = await scheduleRendering(tasks, { slab: createUtf8Buffer(), threads: helping, written });
    expect(told(heads)).toEqual(expected);
    expect(given()).toBeGreaterThan(0);
    expect(counts).toEqual({ thread: given(), event_loop: 900 - given() });
  });

  it('are written here where they are few', async () => {
    const { threads: helping, given } = counting((rows) => threads.write(rows));
    await scheduleRendering(tasks.slice(0, 10), { slab: createUtf8Buffer(), threads: helping });
    expect(given()).toBe(0);
  });

  it('are written here when the threads are busy, or fail', async () => {
    const busy = await scheduleRendering(tasks, { slab: createUtf8Buffer(), threads: { write: () => undefined } });
    expect(told(busy)).toEqual(expected);
    const { threads: failing, given } = counting(() => Promise.reject(new Error('broken')));
    expect(told(await scheduleRendering(tasks, { slab: createUtf8Buffer(), threads: failing }))).toEqual(expected);
    expect(given()).toBeGreaterThan(0);
  });

  it('fail as they do here where a cell is none', async () => {
    const damaged = tasks.with(450, { ...tasks[450]!, row: { ...tasks[450]!.row, boc: Buffer.from('b5ee', 'hex') } });
    await expect(scheduleRendering(damaged, { slab: createUtf8Buffer(), threads })).rejects.toMatchObject({
      code: 'bad_boc',
    });
  });
});

describe('threads that write heads', () => {
  it('take a bounded number of jobs', async () => {
    const rows = tasks.slice(0, 20).map(({ row }) => row);
    const { write, close } = createRenderPool({ threads: 2 }, { logger });
    const taken = Array.from({ length: 10 }, () => write(rows));
    const running = taken.filter((one) => one !== undefined);
    expect(running).toHaveLength(4);
    await Promise.all(running);
    expect(await write(rows)).toHaveLength(20);
    await close();
  });

  it('are none on one core', async () => {
    expect(startRenderPool(1, { logger })).toBeUndefined();
    const started = startRenderPool(64, { logger })!;
    expect(await started.write([tasks[0]!.row])).toHaveLength(1);
    await started.close();
  });
});
