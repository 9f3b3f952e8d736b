import type { Cipheriv } from 'node:crypto';
import { hash } from 'node:crypto';
import { AdnlError } from './errors.ts';
import { createRandomStock } from './random-stock.ts';

/** A frame is len:u32le, then `len` bytes: nonce (32), payload, SHA-256 of nonce and payload (lite server sheet 1.2). */
const prefixBytes = 4;
const nonceBytes = 32;
const hashBytes = 32;

/** Bounds of `len` that the reference node enforces. */
export const frameLengthMin = nonceBytes + hashBytes;
export const frameLengthMax = 1 << 24;

/** Largest payload that fits a frame. */
export const payloadBytesMax = frameLengthMax - frameLengthMin;

/**
 * First allocation for a frame that comes in pieces: holds most answers whole, while a peer that only claims 16 MiB
 * costs little. Grows by doubling, so that each byte is copied at most twice whatever the pieces.
 */
const assemblyBytes = 128 * 1024;

export type FrameEncoder = {
  /** The encrypted frame of `payload`; frames must be sent in the order they were encoded. */
  encode(payload: Uint8Array): Buffer;
};

/**
 * @param cipher the sending stream
 * @param nextNonce 32 bytes for each frame; random unless a test needs known ones
 */
export function createFrameEncoder(
  cipher: Cipheriv,
  nextNonce: () => Buffer = createRandomStock(nonceBytes),
): FrameEncoder {
  return { encode: (payload) => cipher.update(plainFrame(payload, nextNonce())) };
}

/** A frame before encryption. */
export function plainFrame(payload: Uint8Array, nonce: Buffer): Buffer {
  const length = nonceBytes + payload.length + hashBytes;
  const frame = Buffer.allocUnsafe(prefixBytes + length);
  frame.writeUInt32LE(length, 0);
  nonce.copy(frame, prefixBytes);
  frame.set(payload, prefixBytes + nonceBytes);
  const hashAt = frame.length - hashBytes;
  frame.write(hash('sha256', frame.subarray(prefixBytes, hashAt), 'hex'), hashAt, 'hex');
  return frame;
}

export type FrameDecoder = {
  /**
   * Takes the next received bytes and hands over every payload that they complete, in order. A payload keeps no
   * more memory alive than about twice its own size.
   * @throws AdnlError `frame_length`, `frame_hash`; the decoder is of no use after that
   */
  push(received: Buffer): void;
  /** Bytes of an unfinished frame that are held. */
  heldBytes(): number;
};

/**
 * @param cipher the receiving stream
 * @param onPayload called from within `push`; when it throws, `push` throws
 */
export function createFrameDecoder(cipher: Cipheriv, onPayload: (payload: Buffer) => void): FrameDecoder {
  /** The unfinished frame, prefix included: `assembly[0..held]`. */
  let assembly: Buffer = Buffer.alloc(0);
  let held = 0;

  /** Moves `plain[start..end]` to the end of the assembly. */
  function hold(plain: Buffer, start: number, end: number, frameBytes: number): void {
    const needed = held + end - start;
    if (needed > assembly.length) {
      const size = Math.min(frameBytes, Math.max(needed, assembly.length * 2, assemblyBytes));
      const larger = Buffer.allocUnsafeSlow(size);
      assembly.copy(larger, 0, 0, held);
      assembly = larger;
    }
    plain.copy(assembly, held, start, end);
    held = needed;
  }

  /** Goes on with the unfinished frame; returns how much of `plain` it took. */
  function finishHeld(plain: Buffer): number {
    let start = 0;
    if (held < prefixBytes) {
      start = Math.min(prefixBytes - held, plain.length);
      hold(plain, 0, start, prefixBytes);
      if (held < prefixBytes) return start;
    }
    const frameBytes = prefixBytes + frameLength(assembly, 0);
    const end = Math.min(start + frameBytes - held, plain.length);
    hold(plain, start, end, frameBytes);
    if (held === frameBytes) {
      const frame = assembly;
      assembly = Buffer.alloc(0);
      held = 0;
      onPayload(checkedPayload(frame, prefixBytes, frameBytes));
    }
    return end;
  }

  return {
    push(received) {
      const plain = cipher.update(received);
      let start = held === 0 ? 0 : finishHeld(plain);
      while (plain.length - start >= prefixBytes) {
        const end = start + prefixBytes + frameLength(plain, start);
        if (end > plain.length) break;
        onPayload(ownPayload(plain, checkedPayload(plain, start + prefixBytes, end)));
        start = end;
      }
      if (start === plain.length) return;
      const whole = plain.length - start < prefixBytes ? prefixBytes : prefixBytes + frameLength(plain, start);
      hold(plain, start, plain.length, whole);
    },
    heldBytes: () => held,
  };
}

/** @throws AdnlError `frame_length` */
function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at);
  if (length < frameLengthMin || length > frameLengthMax) {
    throw new AdnlError('frame_length', `a frame of ${length} bytes was announced`);
  }
  return length;
}

/** The payload of the frame body `bytes[start..end]`, as a view. @throws AdnlError `frame_hash` */
function checkedPayload(bytes: Buffer, start: number, end: number): Buffer {
  const hashAt = end - hashBytes;
  if (hash('sha256', bytes.subarray(start, hashAt), 'hex') !== bytes.toString('hex', hashAt, end)) {
    throw new AdnlError('frame_hash', 'a frame fails its hash');
  }
  return bytes.subarray(start + nonceBytes, hashAt);
}

/** The payload by itself when its view would keep a much larger piece of received bytes alive. */
function ownPayload(plain: Buffer, payload: Buffer): Buffer {
  if (payload.length * 2 >= plain.length) return payload;
  const own = Buffer.allocUnsafeSlow(payload.length);
  payload.copy(own);
  return own;
}
