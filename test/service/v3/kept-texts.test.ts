import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createKeptTexts, type KeptTexts } from '#service/v3/kept-texts.ts';

function keptTexts(bytesMax: number): { texts: KeptTexts<readonly string[]>; readonly found: boolean[] } {
  const found: boolean[] = [];
  const texts = createKeptTexts<readonly string[]>({ bytesMax }, { counted: (isKept) => void found.push(isKept) });
  return { texts, found };
}

describe('texts that are kept', () => {
  it.each([
    ['in one piece', ['{"a":1}']],
    ['in pieces', ['{"a":', Buffer.from('1}')]],
    ['in any letters', [Buffer.from('{"a":"Käse '), '奶酪 🧀"}']],
    ['that are empty', ['']],
  ])('are given back whole: %s', (_case, parts) => {
    const { texts, found } = keptTexts(10_000);
    expect(texts.get('k')).toBeUndefined();
    texts.keep('k', { parts, names: ['größer', ''] });
    expect(texts.get('k')).toEqual({ text: Buffer.from(parts.join('')), names: ['größer', ''] });
    expect(found).toEqual([false, true]);
  });

  it('are those that were written last, and as many as there is room for', () => {
    const { texts } = keptTexts(16_000);
    for (let n = 0; n < 100; n++) texts.keep(`k${n}`, { parts: ['ä'.repeat(400)], names: [] });
    const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => texts.get(`k${n}`) !== undefined);
    expect(kept).toEqual(Array.from({ length: 19 }, (_, n) => 81 + n));
    expect(texts.bytes()).toBe(19 * 802);
  });

  it('are not swept by one that takes more than an eighth', () => {
    const { texts } = keptTexts(8000);
    texts.keep('small', { parts: ['a'], names: [] });
    texts.keep('large', { parts: ['a'.repeat(1000)], names: [] });
    expect([texts.get('small')?.text.toString(), texts.get('large')]).toEqual(['a', undefined]);
  });

  it('are what was written under their key last, whatever was written after them, within their bound', () => {
    const written = fc.record({
      key: fc.nat(30),
      text: fc.string({ unit: 'grapheme', maxLength: 150 }),
      names: fc.array(fc.string()),
    });
    fc.assert(
      fc.property(fc.array(written, { maxLength: 200 }), (all) => {
        const { texts } = keptTexts(2000);
        const last = new Map<string, { text: string; names: readonly string[] }>();
        for (const { key, text, names } of all) {
          texts.keep(String(key), { parts: [text], names });
          last.set(String(key), { text, names });
          let bytes = 0;
          for (const [one, value] of last) {
            const kept = texts.get(one);
            if (kept === undefined) continue;
            expect({ ...kept, text: kept.text.toString() }).toEqual(value);
            bytes += Buffer.byteLength(value.text) + Buffer.byteLength(JSON.stringify(value.names));
          }
          expect(texts.bytes()).toBe(bytes);
          expect(bytes).toBeLessThanOrEqual(2000);
        }
      }),
      { seed: 11, numRuns: 100 },
    );
  });
});
