import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createUtf8Buffer } from '#service/runtime/utf8-buffer.ts';

/** Texts of any letters, some of them larger than what is made room for at once. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 70_000 }))
    .map(([one, times]) => one.repeat(times)),
);

describe('a slab of texts', () => {
  it('holds what was added, in its order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.constantFrom('string', 'bytes', 'placed'))), (all) => {
        const slab = createUtf8Buffer();
        const placed = all.flatMap(([one, how]) => {
          if (how === 'placed') return [{ bytes: slab.place(one), text: one }];
          slab.add(how === 'bytes' ? Buffer.from(one) : one);
          return [];
        });
        // Compared here, when all that came after them is written too.
        expect(placed.every((here) => here.bytes.equals(Buffer.from(here.text)))).toBe(true);
        const whole = Buffer.from(all.map(([one]) => one).join(''));
        expect(Buffer.concat(slab.pieces()).equals(whole)).toBe(true);
      }),
      { seed: 3, numRuns: 60 },
    );
  });

  it('takes many bytes in as they are', () => {
    const slab = createUtf8Buffer();
    const many = Buffer.alloc(100_000, 'x');
    slab.add('before');
    slab.add(many);
    slab.add('behind');
    const [, own] = slab.pieces();
    expect(slab.pieces().map((piece) => piece.length)).toEqual([6, 100_000, 6]);
    expect(own?.buffer).toBe(many.buffer);
  });

  it('is one piece when it is small', () => {
    const slab = createUtf8Buffer();
    for (let n = 0; n < 100; n++) slab.add('{"a":1}');
    expect(slab.pieces()).toHaveLength(1);
  });
});
