import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { endOf, startOf, startOfBytes, yamlSafeJson } from '#operator/kubernetes/bounded-text.ts';

const texts = fc.array(fc.constantFrom('a', 'ä', '€', '😀'), { maxLength: 20 }).map((parts) => parts.join(''));

describe('a bounded text', () => {
  it('has no half of a character at its cut', () => {
    expect(startOf('ab😀', 3)).toBe('ab\ufffd');
    expect(endOf('😀ab', 3)).toBe('\ufffdab');
    expect([startOf('ab😀', 4), endOf('😀ab', 4)]).toEqual(['ab😀', '😀ab']);
  });

  it('of bytes ends with the last character that fits whole', () => {
    expect([startOfBytes('äöü', 5), startOfBytes('a😀', 4), startOfBytes('abc', 3)]).toEqual(['äö', 'a', 'abc']);
  });

  it('has at most its bytes, whatever the text', () => {
    fc.assert(
      fc.property(texts, fc.nat({ max: 40 }), (text, bytesMax) => {
        const cut = startOfBytes(text, bytesMax);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
        expect(text.startsWith(cut)).toBe(true);
      }),
      { seed: 17, numRuns: 200 },
    );
  });
});

describe('JSON for a server that reads YAML', () => {
  it.each(['\u007f', '\u0085', '\u009f', '\u2028', '\ufeff', '\uffff'])('has %j escaped', (character) => {
    const text = yamlSafeJson({ message: `a${character}b` });
    expect(text).toMatch(/^\{"message":"a\\u[0-9a-f]{4}b"\}$/);
    expect(parse(text)).toEqual({ message: `a${character}b` });
  });

  it('has U+FFFD in place of half a character', () => {
    expect(yamlSafeJson({ list: ['a\ud83d'] })).toBe('{"list":["a\ufffd"]}');
  });

  it('is plain JSON of any other value', () => {
    const value = { text: '😀 "quoted" \n\u001b[0m', number: 1, list: [true, null] };
    expect(yamlSafeJson(value)).toBe(JSON.stringify(value));
  });
});
