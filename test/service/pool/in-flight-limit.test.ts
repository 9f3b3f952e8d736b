import { describe, expect, test } from 'vitest';

import { createInFlightLimit } from '#service/pool/in-flight-limit.ts';
import { seededRandom } from './workload.ts';
import { someOf } from '#test/support/volume.ts';

/** Load at a lite server that works on `places` queries at once, each for `workMs`. Further queries wait there, so all take longer. */
type Load = { places: number; workMs: number; demand: number };

/** Simulates a limit before such a lite server. It gets as many reads as the limit allows and as there are, in simulated time. */
function simulate(ceiling: number, load: Load, seed = 1) {
  const random = seededRandom(seed);
  let nowMs = 0;
  const limit = createInFlightLimit({ ceiling }, { now: () => nowMs });
  let running: { endMs: number; tookMs: number }[] = [];
  const seen: number[] = [];

  function launch(): void {
    while (running.length < Math.min(limit.current(), load.demand)) {
      const crowd = Math.max(1, (running.length + 1) / load.places);
      const tookMs = load.workMs * crowd * (0.9 + 0.2 * random());
      running.push({ endMs: nowMs + tookMs, tookMs });
    }
  }

  return {
    limit,
    load,
    /** Returns the limits of each 100 ms of the given time. */
    run: (ms: number): number[] => {
      seen.length = 0;
      for (const endMs = nowMs + ms; nowMs < endMs;) {
        launch();
        nowMs += 1;
        const ended = running.filter((query) => query.endMs <= nowMs);
        for (const { tookMs } of ended) limit.answered('getAccountState', tookMs, running.length);
        running = running.filter((query) => query.endMs > nowMs);
        if (nowMs % 100 === 0) seen.push(limit.current());
      }
      return [...seen];
    },
  };
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;

describe('the reads that a lite server is given at a time', () => {
  test.each(
    someOf(
      [
        { places: 40, workMs: 40 },
        { places: 8, workMs: 40 },
        { places: 120, workMs: 60 },
      ],
      1,
    ),
  )(
    'the limit becomes the capacity, up or down, and stays so for ten minutes of full load: $places slots',
    ({ places, workMs }) => {
      const { run } = simulate(1_000, { places, workMs, demand: 5_000 });
      run(15_000);
      const settled = run(600_000);
      const idle = settled.filter((limit) => limit < places * 0.7).length;
      expect(idle / settled.length).toBeLessThan(0.03);
      expect(mean(settled)).toBeLessThan(places * 3);
      expect(Math.max(...settled.slice(-1_000))).toBeLessThan(places * 4.5);
    },
  );

  test('the limit reaches the maximum where answers stay fast', () => {
    const { limit, run } = simulate(256, { places: 10_000, workMs: 20, demand: 5_000 });
    expect(limit.current()).toBe(64);
    run(5_000);
    expect(limit.current()).toBe(256);
  });

  test('the limit does not grow with few reads, nor shrink when few are slow, because this load is not the cause', () => {
    const { limit, load, run } = simulate(256, { places: 10_000, workMs: 20, demand: 5 });
    expect(new Set(run(10_000))).toEqual(new Set([64]));
    load.workMs = 200;
    run(60_000);
    expect(limit.current()).toBe(64);
  });

  test('the limit shrinks within a second when the server slows down under load, and grows back when it recovers', () => {
    const { limit, load, run } = simulate(256, { places: 200, workMs: 20, demand: 5_000 });
    run(10_000);
    const before = limit.current();
    load.places = 10;
    run(1_500);
    expect(limit.current()).toBeLessThan(before / 3);
    load.places = 200;
    run(5_000);
    expect(limit.current()).toBeGreaterThan(before * 0.7);
  });

  test('the limit shrinks by a quarter with each overload that is no echo, to four and no further', () => {
    let nowMs = 0;
    const limit = createInFlightLimit({ ceiling: 100 }, { now: () => nowMs });
    const after = (ms: number): number => {
      nowMs += ms;
      limit.overloaded();
      return limit.current();
    };
    expect([after(1_000), after(50), after(50), after(1_000)]).toEqual([48, 48, 36, 27]);
    for (let turn = 0; turn < 20; turn += 1) after(1_000);
    expect(limit.current()).toBe(4);
  });

  test.each([1, 2, 4, 30])('the limit is never above the configuration, nor below one: %i', (ceiling) => {
    const { limit, run } = simulate(ceiling, { places: 1_000, workMs: 10, demand: 5_000 });
    expect(Math.max(...run(5_000))).toBe(ceiling);
    for (let turn = 0; turn < 20; turn += 1) {
      run(200);
      limit.overloaded();
    }
    expect(limit.current()).toBeGreaterThanOrEqual(Math.min(4, ceiling));
    limit.setCeiling(1);
    expect(limit.current()).toBe(1);
  });
});
