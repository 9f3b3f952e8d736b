import { performance } from 'node:perf_hooks';

import { describe, expect, it } from 'vitest';

import { createTimeSlice, mapInSlices, restForTurn } from '#service/runtime/time-slice.ts';

/** Number of works that are longer than several slices. */
const WORKS = 7;
const PARTS = 5;

/** Works at the same time. @returns the turn of the event loop and the work of each part, in the order of the parts */
async function workTogether(): Promise<{ readonly turn: number; readonly work: number }[]> {
  const parts: { turn: number; work: number }[] = [];
  let nowMs = 0;
  // Each look at this clock is the end of a slice.
  const clock = (): number => (nowMs += 1000);
  const run = async (work: number): Promise<void> => {
    const timeSlice = createTimeSlice(undefined, clock);
    for (let part = 0; part < PARTS; part++) {
      await timeSlice.pause();
      parts.push({ turn: performance.nodeTiming.uvMetricsInfo.loopCount, work });
    }
  };
  await Promise.all(Array.from({ length: WORKS }, (_, work) => run(work)));
  return parts;
}

describe('slices of long work', () => {
  it('that run together are in different turns of the event loop', async () => {
    const turns = (await workTogether()).map(({ turn }) => turn);
    expect(turns).toHaveLength(WORKS * PARTS);
    expect(new Set(turns).size).toBe(turns.length);
  });

  it('that run together take turns in the order of arrival', async () => {
    const works = (await workTogether()).map(({ work }) => work);
    expect(works).toEqual(Array.from({ length: WORKS * PARTS }, (_, at) => at % WORKS));
  });

  it('that begin in one turn share its time', async () => {
    let nowMs = 0;
    const clock = (): number => nowMs;
    const parts = new Map<number, number>();
    const doPart = (): void => {
      nowMs++;
      const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
      parts.set(turn, (parts.get(turn) ?? 0) + 1);
    };
    const works = Array.from({ length: 20 }, () => mapInSlices([1, 2, 3], doPart, createTimeSlice(undefined, clock)));
    await Promise.all(works);
    // A slice has 4 ms, and a turn the slice of a rested work at most.
    expect(Math.max(...parts.values())).toBe(4);
    expect([...parts.values()].reduce((sum, count) => sum + count)).toBe(60);
  });

  it('that begin after long work without pauses in its turn rest at their first pause', async () => {
    await restForTurn(undefined);
    const startedMs = performance.now();
    while (performance.now() < startedMs + 5);
    const pause = createTimeSlice(undefined).pause();
    expect(pause).toBeInstanceOf(Promise);
    await pause;
  });

  it('take no turn for work that is aborted while it waits', async () => {
    const ending = new AbortController();
    const turns: number[] = [];
    let nowMs = 0;
    const rest = async (signal?: AbortSignal): Promise<void> => {
      await createTimeSlice(signal, () => (nowMs += 1000)).pause();
      turns.push(performance.nodeTiming.uvMetricsInfo.loopCount);
    };
    const works = [rest(), rest(ending.signal), rest(ending.signal), rest()];
    ending.abort(new Error('the caller is gone'));
    const ends = await Promise.allSettled(works);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const [first, last] = turns as [number, number];
    expect(last - first).toBe(1);
  });

  it('end with the reason of the signal, and the works beside go on', async () => {
    const ending = new AbortController();
    const timeSlice = createTimeSlice(ending.signal, () => performance.now() * 1e6);
    const resting = timeSlice.pause();
    ending.abort(new Error('the caller is gone'));
    await expect(Promise.all([resting, workTogether()])).rejects.toThrow('the caller is gone');
    expect(() => timeSlice.pause()).toThrow('the caller is gone');
    await expect(workTogether()).resolves.toHaveLength(WORKS * PARTS);
  });
});
