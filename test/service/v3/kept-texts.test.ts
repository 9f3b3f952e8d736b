import { describe, expect, it } from 'vitest';

import { createKeptTexts, type KeptTexts } from '#service/v3/kept-texts.ts';

function keptTexts(bytesMax: number): { texts: KeptTexts<string>; readonly found: boolean[] } {
  const found: boolean[] = [];
  return { texts: createKeptTexts<string>({ bytesMax }, { counted: (isKept) => void found.push(isKept) }), found };
}

describe('texts that are kept', () => {
  it.each([
    ['in one piece', '{"a":1}'],
    ['in pieces', ['{"a":', '1}']],
    ['in any letters', ['{"a":"Käse ', '奶酪 🧀"}']],
    ['that are empty', ''],
  ])('are given back whole: %s', (_case, text) => {
    const { texts, found } = keptTexts(100_000);
    expect(texts.get('k')).toBeUndefined();
    texts.keep('k', text, 'its name', 8);
    const kept = texts.get('k')!;
    expect([kept.text(), kept.names]).toEqual([[text].flat().join(''), 'its name']);
    expect(found).toEqual([false, true]);
  });

  it('count as bytes of what is sent, with their names, and go when there are too many', () => {
    const { texts } = keptTexts(16_000);
    for (let n = 0; n < 100; n++) texts.keep(`k${n}`, 'ä'.repeat(400), 'name', 100);
    expect(texts.bytes()).toBeLessThanOrEqual(16_000);
    expect(texts.bytes()).toBeGreaterThan(16_000 - 1_500);
    expect(texts.get('k0')).toBeUndefined();
    expect(texts.get('k99')?.text()).toBe('ä'.repeat(400));
  });
});
