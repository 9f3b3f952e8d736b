import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { fromStatus } from '#operator/kubernetes/errors.ts';
import { createQueueMetrics } from '#operator/kubernetes/metrics.ts';
import { createQueue, type Outcome } from '#operator/kubernetes/queue.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

const done: Outcome = { type: 'done' };

/** A queue over a virtual clock whose work takes as long as the test says; `seen` holds what was worked on, in order. */
function setup(process: (key: string) => Promise<Outcome> = async () => done, concurrency = 4) {
  const clock = createVirtualClock();
  const register = new Registry();
  const seen: { key: string; atMs: number }[] = [];
  const queue = createQueue(
    { name: 'tonapi', concurrency, workTimeoutMs: 60_000, lookMs: 1_800_000 },
    {
      process(key, { signal }) {
        seen.push({ key, atMs: clock.now() });
        return Promise.race([
          process(key),
          new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
        ]);
      },
      clock,
      random: () => 0.5,
      logger: pino({ level: 'silent' }),
      metrics: createQueueMetrics(register),
    },
  );
  const work = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  return { clock, queue, seen, work, register, keys: () => seen.map(({ key }) => key) };
}

const throttled = (seconds: string) => fromStatus('GET', 429, {}, seconds);

const total = (result: string, count: number) =>
  `controller_runtime_reconcile_total{controller="tonapi",result="${result}"} ${count}`;

describe('a queue', () => {
  it('works on a key once however often it was added while it waited', async () => {
    const { queue, clock, keys } = setup();
    for (let i = 0; i < 100; i += 1) queue.add('a/x', 'live');
    queue.start();
    await clock.advance(0);
    expect(keys()).toEqual(['a/x']);
  });

  it.each([0, -5, 1e-9, 999, Number.NaN])(
    'looks at a key no sooner than a second later when its look says %d ms',
    async (requeueAfterMs) => {
      for (const type of ['done', 'terminal'] as const) {
        const { queue, clock, seen } = setup(async () => ({ type, requeueAfterMs }));
        queue.start();
        queue.add('a/x', 'live');
        for (let ms = 0; ms < 10_000; ms += 250) await clock.advance(250);
        expect(seen.length).toBeGreaterThan(5);
        const pauses = seen.slice(1).map(({ atMs }, at) => atMs - (seen[at]?.atMs ?? 0));
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
      }
    },
  );

  it('never works on one key twice at once, and once more when it was added meanwhile', async () => {
    const { queue, clock, keys } = setup(async () => {
      await new Promise<void>((resolve) => clock.after(100, resolve));
      return done;
    });
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(50);
    queue.add('a/x', 'live');
    queue.add('a/x', 'live');
    expect(keys()).toEqual(['a/x']);
    await clock.advance(200);
    expect(keys()).toEqual(['a/x', 'a/x']);
  });

  it('works on as many keys at once as it may', async () => {
    let running = 0;
    let most = 0;
    const { queue, clock, seen } = setup(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => clock.after(10, resolve));
      running -= 1;
      return done;
    }, 3);
    queue.start();
    for (let i = 0; i < 20; i += 1) queue.add(`a/${i}`, 'live');
    await clock.advance(100);
    expect({ most, worked: seen.length }).toEqual({ most: 3, worked: 20 });
  });

  it('takes keys of live events before those of the start, also when a waiting key becomes live', async () => {
    const { queue, clock, keys } = setup(undefined, 1);
    for (const key of ['s/1', 's/2', 's/3']) queue.add(key, 'initial');
    queue.add('s/3', 'live');
    queue.add('live/1', 'live');
    queue.start();
    await clock.advance(0);
    expect(keys()).toEqual(['s/3', 'live/1', 's/1', 's/2']);
  });

  it('tries again after pauses that double up to five minutes, and begins anew after a success', async () => {
    let failing = true;
    const { queue, clock, seen } = setup(async () => {
      if (failing) throw fromStatus('GET', 503, {}, undefined);
      return done;
    });
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(30 * 60_000);
    const pauses = seen.slice(1).map(({ atMs }, at) => atMs - (seen[at]?.atMs ?? 0));
    const doubling = [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400, 204_800, 300_000, 300_000];
    expect(pauses.slice(0, 13)).toEqual(doubling);
    failing = false;
    await clock.advance(300_000);
    failing = true;
    const before = seen.length;
    queue.add('a/x', 'live');
    await clock.advance(250);
    expect(seen.slice(before).map(({ atMs }) => atMs - (seen[before]?.atMs ?? 0))).toEqual([0, 200]);
  });

  it('waits as long as the server asks', async () => {
    let first = true;
    const { queue, clock, seen } = setup(async () => {
      if (!first) return done;
      first = false;
      throw throttled('7');
    });
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(10_000);
    expect(seen.map(({ atMs }) => atMs)).toEqual([0, 7000]);
  });

  it('looks at what only a person can mend after 15 s, doubled up to ten minutes, and at its next event', async () => {
    const { queue, clock, seen } = setup(async () => ({ type: 'terminal' }));
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(20_000);
    queue.add('a/x', 'live');
    await clock.advance(3_000_000);
    const seconds = seen.map(({ atMs }) => atMs / 1000);
    expect(seconds.slice(0, 5)).toEqual([0, 15, 20, 80, 200]);
    expect(seconds.slice(1).map((at, index) => at - (seconds[index] ?? 0))).toEqual([
      15, 5, 60, 120, 240, 480, 600, 600, 600,
    ]);
  });

  it('begins with 15 s again after a reconcile that went well, and looks earlier where the work asks for it', async () => {
    let outcome: Outcome = { type: 'terminal' };
    const { queue, clock, seen } = setup(async () => outcome);
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(20_000);
    outcome = done;
    queue.add('a/x', 'live');
    await clock.advance(0);
    outcome = { type: 'terminal' };
    queue.add('a/x', 'live');
    await clock.advance(15_000);
    expect(seen.map(({ atMs }) => atMs)).toEqual([0, 15_000, 20_000, 20_000, 35_000]);
    outcome = { type: 'terminal', requeueAfterMs: 5000 };
    queue.add('a/x', 'live');
    await clock.advance(5000);
    expect(seen.at(-1)?.atMs).toBe(40_000);
  });

  it('looks at everything every half hour, and earlier where the work asks for it', async () => {
    const { queue, clock, seen } = setup(async (key) =>
      key === 'a/soon' ? { type: 'done', requeueAfterMs: 5000 } : done,
    );
    queue.start();
    queue.add('a/soon', 'live');
    queue.add('a/x', 'live');
    await clock.advance(1_800_000);
    expect(seen.filter(({ key }) => key === 'a/x').map(({ atMs }) => atMs)).toEqual([0, 1_800_000]);
    expect(seen.filter(({ key }) => key === 'a/soon')).toHaveLength(361);
  });

  it('looks at everything every half hour also where the work asks for a later look', async () => {
    const { queue, clock, seen } = setup(async () => ({ type: 'done', requeueAfterMs: 30 * 86_400_000 }));
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(3_600_000);
    expect(seen.map(({ atMs }) => atMs)).toEqual([0, 1_800_000, 3_600_000]);
  });

  it('lets a flood of failures through at twenty a second once a hundred have passed', async () => {
    const failed = new Set<string>();
    const { queue, clock, seen } = setup(async (key) => {
      if (failed.has(key)) return done;
      failed.add(key);
      throw fromStatus('GET', 500, {}, undefined);
    }, 1000);
    queue.start();
    for (let i = 0; i < 300; i += 1) queue.add(`a/${i}`, 'live');
    await clock.advance(210);
    expect(seen).toHaveLength(300 + 100);
    await clock.advance(5000);
    expect(seen).toHaveLength(300 + 200);
    await clock.advance(6000);
    expect(seen).toHaveLength(600);
  });

  it('ends a look that takes longer than a minute, counts it and tries again', async () => {
    let stuck = true;
    const { queue, clock, seen, register } = setup(async () => {
      if (stuck) await new Promise(() => {});
      return done;
    });
    queue.start();
    queue.add('a/x', 'live');
    await clock.advance(59_000);
    stuck = false;
    await clock.advance(2000);
    expect(seen.map(({ atMs }) => atMs)).toEqual([0, 60_200]);
    const metrics = await register.metrics();
    expect(metrics).toContain('controller_runtime_reconcile_timeouts_total{controller="tonapi"} 1');
  });

  it('counts each result, and has every result from the start', async () => {
    const outcomes: (() => Outcome)[] = [
      () => done,
      () => ({ type: 'unfinished' }),
      () => ({ type: 'terminal' }),
      () => {
        throw new TypeError('a bug');
      },
    ];
    const { queue, clock, register } = setup(async (key) => outcomes[Number(key.slice(2))]?.() ?? done);
    queue.start();
    outcomes.forEach((_outcome, at) => queue.add(`a/${at}`, 'live'));
    await clock.advance(100);
    const metrics = await register.metrics();
    for (const line of [
      total('success', 1),
      total('requeue', 1),
      total('error', 2),
      total('requeue_after', 0),
      'controller_runtime_reconcile_panics_total{controller="tonapi"} 1',
      'controller_runtime_terminal_reconcile_errors_total{controller="tonapi"} 1',
      'workqueue_adds_total{name="tonapi",controller="tonapi"} 4',
      'workqueue_retries_total{name="tonapi",controller="tonapi"} 2',
    ]) {
      expect(metrics).toContain(line);
    }
  });

  it('finishes what runs when it is closed, takes up nothing more, and ends what takes too long', async () => {
    const { queue, clock, keys } = setup(async (key) => {
      await new Promise<void>((resolve) => clock.after(key === 'a/long' ? 1e9 : 1000, resolve));
      return done;
    }, 2);
    queue.start();
    for (const key of ['a/short', 'a/long', 'a/never']) queue.add(key, 'live');
    await clock.advance(0);
    let closed = false;
    const closing = (async () => {
      await queue.close(20_000);
      closed = true;
    })();
    await clock.advance(19_000);
    expect({ closed, keys: keys() }).toEqual({ closed: false, keys: ['a/short', 'a/long'] });
    await clock.advance(1000);
    expect({ closed, keys: keys() }).toEqual({ closed: true, keys: ['a/short', 'a/long'] });
    await closing;
  });

  it('a queue drops the alarm and the failures of a deleted key', async () => {
    const { queue, clock, seen } = setup();
    queue.start();
    queue.addAfter('a/x', 1000);
    queue.forget('a/x');
    await clock.advance(5000);
    expect(seen).toEqual([]);
  });
});
