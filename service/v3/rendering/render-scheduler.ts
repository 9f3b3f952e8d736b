import { createTimeSlice, type TimeSlice } from '#service/runtime/time-slice.ts';
import type { Utf8Buffer } from '#service/contract/utf8-buffer.ts';
import { createBagReader } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { RenderRow } from './render-job.ts';
import type { RenderPool } from './render-pool.ts';
import type { WritingPlace } from '../metrics.ts';
import { openTransaction } from './assemble-transaction.ts';
import { renderPartial, type PartialTransactionJson } from './transaction-json.ts';

/** A transaction to render, and the number of its sent messages. */
export type RenderTask = { readonly row: RenderRow; readonly sent: number };

/** Cost of a task in transactions without sent messages: each message adds the same cost. */
const weightOf = ({ sent }: RenderTask): number => 1 + sent;

/** A smaller answer is rendered before a thread would begin: a millisecond or two. */
const SHARED_WEIGHT_MIN = 64;

/** Weight of a job for a thread: a millisecond of work, some ten times the cost of its transfer. */
const JOB_WEIGHT = 32;

/** Longest turn while threads help: the event loop must read their results and give them further work. */
const HELPED_TURN_MS = 1;

/** Jobs of an answer that threads may have at once. */
const LINES = 4;

export type RenderScheduler = {
  readonly slab: Utf8Buffer;
  /** Ends the writing; absent for writing without a limit. */
  readonly signal?: AbortSignal | undefined;
  /** Help with the larger answers; absent, the event loop writes all. */
  readonly threads?: Pick<RenderPool, 'write'> | undefined;
  /** Called with the number of rendered transactions. */
  readonly written?: ((transactions: number, place: WritingPlace) => void) | undefined;
};

/**
 * Renders heads of transactions, in order. Idle threads take jobs of the heaviest tasks, and the event loop starts at the lightest. Neither
 * waits long for the other when they meet. A task that fails in a thread is rendered here.
 */
export async function scheduleRendering(
  tasks: readonly RenderTask[],
  { slab, threads, written, signal }: RenderScheduler,
): Promise<readonly PartialTransactionJson[]> {
  const heads = Array.from<PartialTransactionJson | undefined>({ length: tasks.length });
  const isShared = threads !== undefined && tasks.reduce((sum, task) => sum + weightOf(task), 0) >= SHARED_WEIGHT_MIN;
  const desk = { timeSlice: createTimeSlice(signal), store: createCellStore(), slab };
  const places = [...tasks.keys()];
  if (isShared) places.sort((one, other) => tasks[one]!.sent - tasks[other]!.sent);
  let next = 0;
  let end = places.length;

  async function writeAll(timeSlice: TimeSlice): Promise<void> {
    // Sequential: each bag reuses the memory of the previous bag.
    const readBag = createBagReader();
    while (next < end) {
      const place = places[next++]!;
      heads[place] = await renderPartial(openTransaction(tasks[place]!.row, readBag), { ...desk, timeSlice });
      written?.(1, 'event_loop');
      await timeSlice.pause();
    }
  }

  /** The heaviest remaining tasks that fill a job. */
  function takeJob(): readonly number[] {
    const from = end;
    for (let weight = 0; end > next && weight < JOB_WEIGHT;) weight += weightOf(tasks[places[--end]!]!);
    return places.slice(end, from);
  }

  async function giveAway({ write }: Pick<RenderPool, 'write'>): Promise<void> {
    while (next < end) {
      const job = takeJob();
      const writing = write(job.map((place) => tasks[place]!.row));
      if (writing === undefined) {
        end += job.length;
        return;
      }
      const made = await writing.catch(() => undefined);
      written?.(job.length, made === undefined ? 'event_loop' : 'thread');
      for (const [at, place] of job.entries()) {
        heads[place] = made?.[at] ?? (await renderPartial(openTransaction(tasks[place]!.row), desk));
      }
    }
  }

  const lines = isShared ? Array.from({ length: LINES }, () => giveAway(threads)) : [];
  const isHelped = end < places.length;
  const timeSlice = isHelped ? createTimeSlice(signal, () => performance.now(), HELPED_TURN_MS) : desk.timeSlice;
  await Promise.all([...lines, writeAll(timeSlice)]);
  return heads as PartialTransactionJson[];
}
