import type { Cipheriv } from 'node:crypto';
import { createCipheriv } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdnlError } from '#service/liteserver/adnl/errors.ts';
import {
  createFrameDecoder,
  createFrameEncoder,
  frameLengthMax,
  payloadBytesMax,
  plainFrame,
} from '#service/liteserver/adnl/frame.ts';
import { threadCpuMs } from '#test/support/thread-cpu.ts';

const stream = (): Cipheriv => createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16, 2));

const wireOf = (change: (frame: Buffer) => void): Buffer => {
  const frame = plainFrame(Buffer.from('payload'), Buffer.alloc(32));
  change(frame);
  return stream().update(frame);
};

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof AdnlError) return error.code;
    throw error;
  }
  return 'none';
}

/** Cuts `bytes` into pieces of the given lengths, repeatedly. */
function* pieces(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  let start = 0;
  for (let turn = 0; start < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    yield bytes.subarray(start, start + length);
    start += length;
  }
}

function decodeAll(wire: Buffer, lengths: readonly number[]): Buffer[] {
  const payloads: Buffer[] = [];
  const decoder = createFrameDecoder(stream(), (payload) => payloads.push(payload));
  for (const piece of pieces(wire, lengths)) decoder.push(piece);
  expect(decoder.bufferedBytes()).toBe(0);
  return payloads;
}

function encodeAll(payloads: readonly Buffer[]): Buffer {
  const encoder = createFrameEncoder(stream());
  return Buffer.concat(payloads.map((payload) => encoder.encode(payload)));
}

const anyBuffer = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength, size: 'max' }).map((array) => Buffer.from(array));

describe('frames', () => {
  it('frames are read as they were written, however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(anyBuffer(2_000), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 }),
        (payloads, lengths) => {
          expect(decodeAll(encodeAll(payloads), lengths)).toEqual(payloads);
        },
      ),
      { seed: 20_261_121, numRuns: 300 },
    );
  });

  it('frames are read byte by byte too', () => {
    const payloads = [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(300, 9), Buffer.alloc(0)];
    expect(decodeAll(encodeAll(payloads), [1])).toEqual(payloads);
  });

  it.each([1, 100_000, payloadBytesMax])('frames of %i payload bytes fit, in network-sized pieces', (length) => {
    const payload = Buffer.alloc(length, 0x5a);
    const [found] = decodeAll(encodeAll([payload]), [65_536]);
    expect(found?.equals(payload)).toBe(true);
  });

  it('small frames reference no large buffer', () => {
    const payloads = Array.from({ length: 500 }, (_unused, index) => Buffer.alloc(100, index));
    for (const lengths of [[65_536], [1_000], [90]]) {
      const held = decodeAll(encodeAll(payloads), lengths).map((payload) => payload.buffer.byteLength);
      expect(Math.max(...held)).toBeLessThanOrEqual(200);
    }
  });

  it('frames in many tiny pieces cost time in proportion to their size', () => {
    const wire = encodeAll([Buffer.alloc(1_000_000)]);
    const startedMs = threadCpuMs();
    decodeAll(wire, [17]);
    expect(threadCpuMs() - startedMs).toBeLessThan(3_000);
  });
});

describe('bad frames', () => {
  it.each([0, 1, 63, frameLengthMax + 1, 0xffffffff])('a frame with a length of %i is refused', (length) => {
    const wire = wireOf((frame) => frame.writeUInt32LE(length, 0));
    const decoder = createFrameDecoder(stream(), () => undefined);
    expect(codeOf(() => decoder.push(wire.subarray(0, 4)))).toBe('frame_length');
  });

  it.each([4, 20, 36, 40, 43, 60, 74])('a frame with a changed byte at %i is refused', (at) => {
    const wire = wireOf((frame) => frame.writeUInt8(frame.readUInt8(at) ^ 0x80, at));
    for (const lengths of [[wire.length], [10]]) expect(codeOf(() => decodeAll(wire, lengths))).toBe('frame_hash');
  });

  it('random bytes are refused, always with a typed error and within the bounds of memory', () => {
    fc.assert(
      fc.property(anyBuffer(5_000), fc.integer({ min: 1, max: 5_000 }), (noise, length) => {
        const decoder = createFrameDecoder(stream(), () => undefined);
        const code = codeOf(() => {
          for (const piece of pieces(noise, [length])) decoder.push(piece);
        });
        expect(['none', 'frame_length', 'frame_hash']).toContain(code);
        expect(decoder.bufferedBytes()).toBeLessThanOrEqual(noise.length);
      }),
      { seed: 20_261_121, numRuns: 500 },
    );
  });

  it('a claim of 16 MiB alone reserves little', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 50 }, () => createFrameDecoder(stream(), () => undefined));
    const wire = wireOf((frame) => frame.writeUInt32LE(frameLengthMax, 0));
    for (const decoder of decoders) decoder.push(wire);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 200_000);
    expect(decoders[0]?.bufferedBytes()).toBe(wire.length);
  });
});
