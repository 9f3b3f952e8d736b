import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createByteRing, type ByteRing } from '#service/runtime/byte-ring.ts';

/** Writes pieces, and expects what is still there to be what was written, however it is asked for. */
function expectRead(ring: ByteRing, pieces: readonly Buffer[], places: readonly number[]): void {
  for (const piece of pieces) ring.append(piece);
  const all = Buffer.concat(pieces);
  expect(ring.end()).toBe(all.length);
  const readable = all.length - ring.begin();
  for (const place of places) {
    const at = ring.begin() + Math.floor(place * readable);
    const bytes = Math.floor((place * 7919) % (all.length - at + 1));
    expect(ring.read(at, bytes).equals(all.subarray(at, at + bytes))).toBe(true);
  }
  expect(ring.read(ring.begin(), readable).equals(all.subarray(ring.begin()))).toBe(true);
}

const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 10 });

describe('a ring of bytes', () => {
  it('has the last ones, as many as it has room for', () => {
    const pieces = fc.array(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 200 }), places, (written, bytesMax, asked) => {
        const ring = createByteRing(bytesMax);
        expectRead(ring, written, asked);
        expect(ring.end() - ring.begin()).toBe(Math.min(bytesMax, ring.end()));
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it('leaves what was read as it was', () => {
    const ring = createByteRing(100_000);
    ring.append(Buffer.alloc(50_000, 'a'));
    const read = ring.read(10, 49_000);
    for (let n = 0; n < 20; n++) ring.append(Buffer.alloc(50_000, 'b'));
    expect(read.equals(Buffer.alloc(49_000, 'a'))).toBe(true);
  });

  it('takes memory as it is filled', () => {
    const before = process.memoryUsage().arrayBuffers;
    const ring = createByteRing(256 * 2 ** 20);
    ring.append(Buffer.from('a text'));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 2 ** 20);
    expect(ring.read(0, 6).toString()).toBe('a text');
  });

  it('has what crosses its pieces', () => {
    const ring = createByteRing(2_500_000);
    const written = Buffer.alloc(6_000_000, 'pieces of a ring');
    ring.append(written);
    expect(ring.begin()).toBe(3_500_000);
    expect(ring.read(3_500_000, 2_500_000).equals(written.subarray(3_500_000))).toBe(true);
  });
});
