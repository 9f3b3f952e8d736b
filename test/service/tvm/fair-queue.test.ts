import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '#service/tvm/fair-queue.ts';
import { medianBeside, simulate } from './simulated-threads.ts';

const by = (payer: string, caller = payer) => ({ payer, caller });
const still = (): number => 0;

describe('the queue of runs', () => {
  it('a payer that used less thread time is served before a payer that used more', () => {
    const queue = createFairQueue<string>({ lengthMax: 10, threads: 2 }, still);
    queue.push(by('a'), 'a1');
    queue.push(by('b'), 'b1');
    queue.start()!.end(300);
    queue.start()!.end(2);
    for (const entry of ['a2', 'b2', 'b3']) queue.push(by(entry[0]!), entry);
    const served: string[] = [];
    for (let run = queue.start(); run !== undefined; run = queue.start()) {
      served.push(run.entry);
      run.end(2);
    }
    expect(served).toEqual(['b2', 'b3', 'a2']);
  });

  it('the debt of an idle payer stays', () => {
    let nowMs = 0;
    const queue = createFairQueue<string>({ lengthMax: 10, threads: 2 }, () => nowMs);
    queue.push(by('a'), 'a1');
    queue.start()!.end(2000);
    nowMs = 60_000;
    for (const entry of ['a2', 'a3', 'b1', 'b2']) queue.push(by(entry[0]!), entry);
    expect(queue.start()!.entry).toBe('b1');
  });

  it('the callers of one payer are served by their thread time, each in its own order', () => {
    const queue = createFairQueue<string>({ lengthMax: 10, threads: 2 }, still);
    for (const entry of ['x1', 'x2', 'y1', 'y2']) queue.push(by('anonymous', entry[0]), entry);
    const served: string[] = [];
    for (let run = queue.start(); run !== undefined; run = queue.start()) {
      served.push(run.entry);
      run.end(run.entry.startsWith('x') ? 500 : 1);
    }
    expect(served).toEqual(['x1', 'y1', 'y2', 'x2']);
  });

  it('a payer has one thread until its first run has ended', () => {
    const queue = createFairQueue<string>({ lengthMax: 10, threads: 4 }, still);
    for (const entry of ['a1', 'a2', 'b1']) queue.push(by(entry[0]!), entry);
    expect([queue.start()?.entry, queue.start()?.entry, queue.start()?.entry]).toEqual(['a1', 'b1', undefined]);
  });

  it('a long run gets no thread while only one thread has started', () => {
    const queue = createFairQueue<string>({ lengthMax: 10, threads: 2 }, still);
    queue.push(by('long'), 'l1');
    queue.start(1)!.end(2000);
    for (const entry of ['l2', 's1']) queue.push(by(entry === 'l2' ? 'long' : 'short'), entry);
    expect(queue.start(1)?.entry).toBe('s1');
    expect(queue.start(1)).toBeUndefined();
    expect(queue.start(2)?.entry).toBe('l2');
  });

  it('a new entry takes the room of an entry of the longest line', () => {
    const queue = createFairQueue<string>({ lengthMax: 4, threads: 2 }, still);
    for (const entry of ['a1', 'a2', 'a3', 'a4']) expect(queue.push(by('a'), entry)).toBeUndefined();
    expect(queue.push(by('a'), 'a5')).toBe('a5');
    expect(queue.push(by('b'), 'b1')).toBe('a4');
    expect(queue.push(by('a', 'other'), 'o1')).toBe('a3');
    expect(queue.length).toBe(4);
  });

  it('idle payers and callers beyond the bound are evicted, and the queue goes on', () => {
    const queue = createFairQueue<number>({ lengthMax: 4, threads: 2 }, still);
    for (let number = 0; number < 1500; number++) {
      queue.push({ payer: number % 2 === 0 ? 'anonymous' : `key ${number}`, caller: `caller ${number}` }, number);
      const run = queue.start()!;
      expect(run.entry).toBe(number);
      run.end(1);
    }
    expect(queue.length).toBe(0);
  });

  it('the queue loses and doubles no entry, and never exceeds its bound', () => {
    const act = fc.record({
      kind: fc.constantFrom('push', 'start', 'end', 'remove'),
      payer: fc.constantFrom('a', 'b', 'c'),
      caller: fc.constantFrom('x', 'y'),
      tookMs: fc.integer({ min: 1, max: 3000 }),
    });
    const options = fc.record({ lengthMax: fc.integer({ min: 1, max: 8 }), threads: fc.integer({ min: 2, max: 4 }) });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80 }), options, (acts, { lengthMax, threads }) => {
        let nowMs = 0;
        const queue = createFairQueue<number>({ lengthMax, threads }, () => nowMs);
        const waiting = new Map<number, { payer: string; caller: string }>();
        const running: { end: (usedMs: number) => void }[] = [];
        const faults: string[] = [];
        const check = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
        for (const [number, { kind, payer, caller, tookMs }] of acts.entries()) {
          if (kind === 'push') {
            waiting.set(number, { payer, caller });
            const dropped = queue.push({ payer, caller }, number);
            check((dropped === undefined) === waiting.size <= lengthMax, 'dropped below the bound or grew beyond');
            if (dropped !== undefined) check(waiting.delete(dropped), 'dropped an entry that did not wait');
          } else if (kind === 'start') {
            const run = running.length < threads ? queue.start() : undefined;
            if (run === undefined) check(running.length > 0 || waiting.size === 0, 'left all threads idle');
            else {
              check(waiting.delete(run.entry), 'started an entry that did not wait');
              running.push(run);
            }
          } else if (kind === 'end') {
            nowMs += tookMs;
            running.shift()?.end(tookMs);
          } else {
            const [own, bill] = [...waiting][0] ?? [-1, { payer, caller }];
            check(queue.remove(bill, own) === waiting.delete(own), 'removed an entry that did not wait');
          }
          check(queue.length === waiting.size, 'counted wrong');
        }
        expect(faults).toEqual([]);
        expect(queue.clear().toSorted((a, b) => a - b)).toEqual([...waiting.keys()]);
      }),
      { seed: 20261121, numRuns: 300 },
    );
  });
});

describe('thread time', () => {
  it('each payer with constant runs gets its share of all threads except the free one, however long its runs are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 20, max: 2000 }), { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 2, max: 4 }),
        (costs, threads) => {
          const seconds = 100;
          const greedy = costs.map((costMs, at) => ({ bill: by(`payer ${at}`), costMs, concurrency: 8 }));
          const { usedMs } = simulate({ threads, seconds, closed: greedy });
          const fairMs = seconds * 1000 * Math.min(1, (threads - 1) / costs.length);
          for (const { bill } of greedy) {
            expect(usedMs.get(bill.payer)!).toBeGreaterThan(fairMs * 0.8);
          }
        },
      ),
      { seed: 20261121, numRuns: 15 },
    );
  });

  it.each([1, 10, 100])(
    'an honest key waits at most twice as long in the median as alone, next to %i anonymous addresses that loop',
    (addresses) => {
      const scene = fc.record({
        threads: fc.integer({ min: 2, max: 8 }),
        honestMs: fc.integer({ min: 1, max: 60 }),
        concurrency: fc.constantFrom(1, 1, 2),
        loopMs: fc.constantFrom(20, 50, 100, 300, 1000, 2000),
        spread: fc.constantFrom(0, 0.5),
        seed: fc.integer(),
      });
      fc.assert(
        fc.property(scene, (drawn) => {
          const alone = medianBeside({ ...drawn, addresses: 0 });
          const beside = medianBeside({ ...drawn, addresses });
          expect(beside).toBeLessThanOrEqual(Math.max(2 * alone, alone + 5));
        }),
        { seed: 20261121, numRuns: 25 },
      );
    },
  );
});
