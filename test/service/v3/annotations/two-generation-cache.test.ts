import { describe, expect, it } from 'vitest';

import { createTwoGenerationCache } from '#service/v3/annotations/two-generation-cache.ts';
import { createDraw } from '#test/support/draw.ts';

describe('a cache of two generations', () => {
  it('of one key are the last ones, until they are dropped', () => {
    const notes = createTwoGenerationCache<number>({ bytesMax: 100, weigh: () => 10 });
    notes.keep('one', 1);
    notes.keep('one', 2);
    expect([notes.get('one'), notes.get('two'), notes.bytes()]).toEqual([2, undefined, 10]);
    notes.drop('one');
    notes.drop('two');
    expect([notes.get('one'), notes.bytes()]).toEqual([undefined, 0]);
  });

  it('that were asked for last stay, of others those go that were not asked for longest', () => {
    const notes = createTwoGenerationCache<number>({ bytesMax: 100, weigh: () => 10 });
    notes.keep('asked for', 0);
    notes.keep('never asked for', 0);
    for (let at = 0; at < 50; at++) {
      notes.keep(`key ${at}`, at);
      expect(notes.get('asked for')).toBe(0);
    }
    expect(notes.get('never asked for')).toBeUndefined();
    expect(notes.get('key 49')).toBe(49);
    notes.clear();
    expect([notes.get('asked for'), notes.bytes()]).toEqual([undefined, 0]);
  });

  it('never exceed their bound, and have the newest entries', () => {
    const draw = createDraw(20_261_126);
    const notes = createTwoGenerationCache<number>({ bytesMax: 1000, weigh: (key, note) => key.length + (note % 97) });
    const last = new Map<string, number>();
    const [found, expected]: [unknown[], unknown[]] = [[], []];
    const weights: number[] = [];
    for (let step = 0; step < 20_000; step++) {
      const key = `${draw(60)}`;
      const dice = draw(10);
      if (dice < 6) {
        const note = notes.get(key);
        if (note === undefined) continue;
        found.push(note);
        expected.push(last.get(key));
      } else if (dice < 9) {
        notes.keep(key, step);
        last.set(key, step);
      } else {
        notes.drop(key);
        last.delete(key);
      }
      weights.push(notes.bytes());
    }
    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(1000);
    expect([Math.min(...weights) >= 0, Math.max(...weights) <= 1000]).toEqual([true, true]);
  });
});
