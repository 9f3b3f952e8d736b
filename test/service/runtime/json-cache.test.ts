import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createJsonCache, type CachedJson, type JsonCache } from '#service/runtime/json-cache.ts';

const jsonCacheOf = (bytesMax: number): JsonCache<readonly string[]> => createJsonCache({ bytesMax });

describe('the cache of rendered JSON', () => {
  it.each([
    ['in one piece', ['{"a":1}']],
    ['in pieces', ['{"a":', Buffer.from('1}')]],
    ['in any letters', [Buffer.from('{"a":"Käse '), '奶酪 🧀"}']],
    ['that are empty', ['']],
  ])('are given back whole: %s', (_case, parts) => {
    const texts = jsonCacheOf(10_000);
    expect(texts.get('k')).toBeUndefined();
    texts.keep('k', { parts, names: ['größer', ''] });
    expect(texts.get('k')).toEqual({ text: Buffer.from(parts.join('')), names: ['größer', ''] });
  });

  it('are those that were written last, and as many as there is room for', () => {
    const texts = jsonCacheOf(16_000);
    for (let n = 0; n < 100; n++) texts.keep(`k${n}`, { parts: ['ä'.repeat(400)], names: [] });
    const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => texts.get(`k${n}`) !== undefined);
    expect(kept).toEqual(Array.from({ length: 19 }, (_, n) => 81 + n));
    expect(texts.bytes()).toBe(16_000);
  });

  it('are not swept by one that takes more than an eighth', () => {
    const texts = jsonCacheOf(8000);
    texts.keep('small', { parts: ['a'], names: [] });
    texts.keep('large', { parts: ['a'.repeat(1000)], names: [] });
    expect([texts.get('small')?.text.toString(), texts.get('large')]).toEqual(['a', undefined]);
  });

  it('are what was written under their key last, whatever followed', () => {
    const written = fc.record({
      key: fc.nat(30),
      text: fc.string({ unit: 'grapheme', maxLength: 150 }),
      times: fc.nat(40),
      names: fc.array(fc.string()),
    });
    fc.assert(
      fc.property(fc.array(written, { maxLength: 200 }), fc.constantFrom(2000, 100_000), (all, bytesMax) => {
        const texts = jsonCacheOf(bytesMax);
        const last = new Map<string, { text: string; names: readonly string[] }>();
        for (const { key, text, times, names } of all) {
          const whole = text.repeat(times);
          texts.keep(String(key), { parts: [text.repeat(times - (times % 2)), text.repeat(times % 2)], names });
          last.set(String(key), { text: whole, names });
          const kept = [...last.keys()].filter((one) => texts.get(one) !== undefined);
          const told = kept.map((one) => last.get(one)!);
          expect(kept.map((one) => readable(texts.get(one)!))).toEqual(told);
          const bytes = told.reduce((sum, one) => sum + bytesOf(one), 0);
          expect(texts.bytes()).toBeGreaterThanOrEqual(bytes);
          expect(texts.bytes()).toBeLessThanOrEqual(bytesMax);
        }
        const newest = all.at(-1);
        if (newest === undefined) return;
        const bytes = bytesOf(last.get(String(newest.key))!);
        expect(texts.get(String(newest.key)) !== undefined).toBe(bytes <= bytesMax / 8);
      }),
      { seed: 11, numRuns: 100 },
    );
  });
});

const bytesOf = ({ text, names }: { readonly text: string; readonly names: readonly string[] }): number =>
  Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(names));

const readable = ({ text, names }: CachedJson<readonly string[]>): { text: string; names: readonly string[] } => ({
  text: text.toString(),
  names,
});
