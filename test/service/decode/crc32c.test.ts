import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '#service/decode/crc32c.ts';

/** CRC-32C by its definition, bit by bit. */
function plainCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0x82f63b78);
  }
  return ~crc >>> 0;
}

describe('crc32c', () => {
  it.each([
    ['no bytes', Buffer.alloc(0), 0],
    ['the check value of the catalogues', Buffer.from('123456789'), 0xe3069283],
    ['32 zeros (RFC 3720 B.4)', Buffer.alloc(32), 0x8a9136aa],
    ['32 ones (RFC 3720 B.4)', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ])('the CRC of %s is the known one', (_, bytes, value) => {
    expect(crc32c(bytes)).toBe(value);
  });

  it('the CRC is the same at any position of the bytes, whole or in part', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(7), fc.nat(20), fc.nat(20), (bytes, shift, from, cut) => {
        const shifted = new Uint8Array(new ArrayBuffer(bytes.length + shift), shift);
        shifted.set(bytes);
        const start = Math.min(from, bytes.length);
        const end = Math.max(start, bytes.length - cut);
        expect(crc32c(shifted, start, end)).toBe(plainCrc32c(bytes.subarray(start, end)));
      }),
      { seed: 16, numRuns: 1000 },
    );
  });
});
