import { setImmediate } from 'node:timers/promises';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { markFlat, writeEntries, writePaced, RawJson } from '#service/contract/json-stream.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';

describe('long work', () => {
  it('rests when its turn is over, and begins another turn then', async () => {
    let nowMs = 0;
    const timeSlice = createTimeSlice(undefined, () => nowMs);
    expect(timeSlice.pause()).toBeUndefined();
    nowMs = 10;
    const rest = timeSlice.pause();
    expect(rest).toBeInstanceOf(Promise);
    await rest;
    expect(timeSlice.pause()).toBeUndefined();
  });

  it('lets others run between its items', async () => {
    let nowMs = 0;
    let turns = 0;
    const over = new AbortController();
    const other = async (): Promise<void> => {
      for (; !over.signal.aborted; turns++) await setImmediate();
    };
    const running = other();
    const items = Array.from({ length: 20 }, (_one, at) => at);
    const shown = await mapInSlices(
      items,
      (item) => {
        nowMs += 5;
        return -item;
      },
      createTimeSlice(undefined, () => nowMs),
    );
    over.abort();
    await running;
    expect(shown).toEqual(items.map((item) => -item));
    expect(turns).toBeGreaterThanOrEqual(19);
  });
});

describe('work of a request that has ended', () => {
  it.each([0, 1, 7])('makes no further item after %i', async (made) => {
    const ended = new AbortController();
    const shown: number[] = [];
    const items = Array.from({ length: 20 }, (_one, at) => at);
    if (made === 0) ended.abort('over');
    const work = mapInSlices(
      items,
      (item) => {
        shown.push(item);
        if (shown.length === made) ended.abort('over');
      },
      createTimeSlice(ended.signal),
    );
    await expect(work).rejects.toBe('over');
    expect(shown.length).toBe(made);
  });

  it('writes no further part of its answer', async () => {
    const ended = new AbortController();
    let written = 0;
    const part = {
      toJSON() {
        if (++written === 3) ended.abort('over');
        return 'x'.repeat(10);
      },
    };
    const answer = Array.from({ length: 5000 }, () => part);
    await expect(writePaced(answer, createTimeSlice(ended.signal))).rejects.toBe('over');
    expect(written).toBe(3);
  });

  it('ends in its pause', async () => {
    let nowMs = 0;
    const ended = new AbortController();
    const paused = createTimeSlice(ended.signal, () => nowMs);
    nowMs = 10;
    const rest = paused.pause();
    ended.abort('over');
    await expect(rest).rejects.toBe('over');
  });
});

/** A chain of objects, each in a list of the one before. */
function chainOf(links: number): { readonly at: number; readonly children: readonly unknown[] } {
  let link = { at: links, children: [] as unknown[] };
  for (let at = links - 1; at >= 0; at--) link = { at, children: [link] };
  return link;
}

const timeSlice = createTimeSlice(undefined);

const joined = async (value: unknown): Promise<string> => [await writePaced(value, timeSlice)].flat().join('');

describe('paced JSON', () => {
  it('paced JSON equals JSON.stringify', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const large = fc.array(fc.dictionary(fc.string(), fc.tuple(value, value)), { maxLength: 100, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.oneof(value, large), async (one) => {
        expect(await joined(one)).toBe(JSON.stringify(one));
      }),
      { seed: 9, numRuns: 300 },
    );
  });

  it.each([
    ['a long list in an object', { list: Array.from({ length: 5000 }, (_one, at) => ({ at })), book: { a: [1] } }],
    [
      'a large map in a list',
      [{ map: Object.fromEntries(Array.from({ length: 5000 }, (_one, at) => [`k${at}`, at])) }],
    ],
    ['fields without a value', { none: undefined, list: Array.from({ length: 2000 }, () => undefined) }],
    [
      'objects without a field',
      { none: undefined, one: { none: undefined }, list: Array.from({ length: 2000 }, () => ({})) },
    ],
  ])('has %s whole', async (_name, value) => {
    expect(await joined(value)).toBe(JSON.stringify(value));
  });

  it('is one text when it is short, and several pieces when it is long', async () => {
    expect(typeof (await writePaced({ text: 'x'.repeat(1000) }, timeSlice))).toBe('string');
    const long = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(10_000) }));
    const pieces = await writePaced(
      Array.from({ length: 20 }, () => long),
      timeSlice,
    );
    expect(pieces.length).toBeGreaterThan(10);
    expect([pieces].flat().every((piece) => piece.length < 2_000_000)).toBe(true);
  });

  it('paced JSON of small items equals JSON.stringify', async () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const answer = fc.dictionary(fc.string(), fc.oneof(value, fc.array(value), fc.dictionary(fc.string(), value)));
    await fc.assert(
      fc.asyncProperty(answer, async (one) => {
        expect(await joined(markFlat({ ...one, none: undefined }))).toBe(JSON.stringify(one));
        const lists = { items: Object.values(one), pages: [{ of: Object.values(one) }] };
        const written = await Promise.all(
          lists.items.map(async (item) => new RawJson([await writePaced(item, timeSlice)].flat())),
        );
        expect(await joined(markFlat({ items: written, pages: [{ of: written }] }))).toBe(JSON.stringify(lists));
      }),
      { seed: 9, numRuns: 200 },
    );
  });

  it('has what is written already as it was written, also by JSON.stringify', async () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(value, value), { maxLength: 20 }), async (pairs) => {
        const written = await Promise.all(
          pairs.map(async ([one]) => new RawJson([await writePaced(one, timeSlice)].flat())),
        );
        const shown = { list: written, map: Object.fromEntries(pairs.map(([, two], at) => [at, [two, written[at]]])) };
        const plain = {
          list: pairs.map(([one]) => one),
          map: Object.fromEntries(pairs.map(([one, two], at) => [at, [two, one]])),
        };
        expect(await joined(shown)).toBe(JSON.stringify(plain));
        expect(JSON.stringify(shown)).toBe(JSON.stringify(plain));
      }),
      { seed: 9, numRuns: 100 },
    );
    const pieces = ['[1,', Buffer.from('"ä",'), '2]'];
    expect(await joined([new RawJson(pieces)])).toBe('[[1,"ä",2]]');
  });

  it('has an object by its entries as it has the object', async () => {
    const entries = fc.uniqueArray(
      fc.tuple(fc.stringMatching(/^[^0-9].*$/u), fc.jsonValue({ maxDepth: 3 }), fc.boolean()),
      {
        selector: ([name]) => name,
      },
    );
    await fc.assert(
      fc.asyncProperty(entries, async (all) => {
        const given = all.map(
          ([name, value, isWritten]) => [name, isWritten ? new RawJson([JSON.stringify(value)]) : value] as const,
        );
        const text = JSON.stringify(Object.fromEntries(all.map(([name, value]) => [name, value])));
        expect(await joined({ map: writeEntries(given) })).toBe(`{"map":${text}}`);
      }),
      { seed: 9, numRuns: 100 },
    );
  });

  it('goes as deep as a chain of 4,000', async () => {
    let text = await joined(chainOf(4000));
    for (let at = 0; at < 4000; at++) {
      const opening = `{"at":${at},"children":[`;
      expect(text.startsWith(opening)).toBe(true);
      text = text.slice(opening.length);
    }
    expect(text).toBe(`{"at":4000,"children":[]}${']}'.repeat(4000)}`);
  });

  it('may rest between the parts of one large object in a list', async () => {
    let pauses = 0;
    const counting = {
      pause: () => {
        pauses++;
        return undefined;
      },
    };
    const trace = Object.fromEntries(Array.from({ length: 4000 }, (_one, at) => [`t${at}`, { at, of: [at] }]));
    await writePaced({ traces: [{ transactions: trace }] }, counting);
    expect(pauses).toBeGreaterThanOrEqual(4000);
  });
});
