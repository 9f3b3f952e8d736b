import type { Cipheriv } from 'node:crypto';
import { hash } from 'node:crypto';
import { AdnlError } from './errors.ts';
import { createRandomStock } from './random-stock.ts';

/**
 * Length prefix of a frame. A frame is len:u32le, then `len` bytes: nonce (32), payload, SHA-256 of nonce and payload
 * (service/liteserver/README.md#frames).
 */
const PREFIX_BYTES = 4;
const NONCE_BYTES = 32;
const HASH_BYTES = 32;

/** Bounds of `len` that the reference node enforces. */
export const frameLengthMin = NONCE_BYTES + HASH_BYTES;
export const frameLengthMax = 1 << 24;

/** Largest payload that fits a frame. */
export const payloadBytesMax = frameLengthMax - frameLengthMin;

/**
 * First bytes reserved for a frame that comes in pieces, doubled as more comes. A peer that only claims 16 MiB thus costs little, and each byte is
 * copied at most twice. The buffer stays for the next frame up to `COLLECTED_BYTES_KEPT`, which fits most answers. An answer then takes no memory
 * besides its own.
 */
const COLLECTED_BYTES_MIN = 64 * 1024;
const COLLECTED_BYTES_KEPT = 256 * 1024;

export type FrameEncoder = {
  /** Returns the encrypted frame of `payload`. Frames must be sent in the order of their encoding. */
  encode(payload: Uint8Array): Buffer;
};

/**
 * @param cipher of the sending stream
 * @param nextNonce 32 bytes for each frame; random unless a test needs known ones
 */
export function createFrameEncoder(
  cipher: Cipheriv,
  nextNonce: () => Buffer = createRandomStock(NONCE_BYTES),
): FrameEncoder {
  return { encode: (payload) => cipher.update(plainFrame(payload, nextNonce())) };
}

/** Returns a frame before encryption. */
export function plainFrame(payload: Uint8Array, nonce: Buffer): Buffer {
  const length = NONCE_BYTES + payload.length + HASH_BYTES;
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + length);
  frame.writeUInt32LE(length, 0);
  nonce.copy(frame, PREFIX_BYTES);
  frame.set(payload, PREFIX_BYTES + NONCE_BYTES);
  const hashAt = frame.length - HASH_BYTES;
  frame.write(hash('sha256', frame.subarray(PREFIX_BYTES, hashAt), 'hex'), hashAt, 'hex');
  return frame;
}

export type FrameDecoder = {
  /**
   * Takes the next received bytes and passes on every payload that they complete, in order. A payload has a buffer of its own; nothing of `received`
   * is referenced afterwards.
   * @throws AdnlError `frame_length`, `frame_hash`; the decoder is then unusable
   */
  push(received: Uint8Array): void;
  /** Returns the buffered bytes of an unfinished frame. */
  bufferedBytes(): number;
};

/**
 * @param cipher of the receiving stream
 * @param onPayload called from within `push`; when it throws, `push` throws
 */
export function createFrameDecoder(cipher: Cipheriv, onPayload: (payload: Buffer) => void): FrameDecoder {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  let prefixBytes = 0;
  /** Length of the frame in progress; undefined while its prefix is incomplete. */
  let length: number | undefined;
  /** Buffer whose first bytes are the encrypted body of the frame in progress. */
  let collected: Buffer = Buffer.alloc(0);
  let collectedBytes = 0;

  function readPrefix(received: Uint8Array, start: number): number {
    const end = Math.min(start + PREFIX_BYTES - prefixBytes, received.length);
    prefix.set(cipher.update(received.subarray(start, end)), prefixBytes);
    prefixBytes += end - start;
    if (prefixBytes === PREFIX_BYTES) length = checkedLength(prefix.readUInt32LE());
    return end;
  }

  function readBody(received: Uint8Array, start: number, bodyBytes: number): number {
    const end = Math.min(start + bodyBytes - collectedBytes, received.length);
    const piece = received.subarray(start, end);
    if (piece.length === bodyBytes) {
      finish(piece);
      return end;
    }
    collect(piece, bodyBytes);
    if (collectedBytes === bodyBytes) {
      finish(collected.subarray(0, collectedBytes));
      if (collected.length > COLLECTED_BYTES_KEPT) collected = Buffer.alloc(0);
    }
    return end;
  }

  function collect(piece: Uint8Array, bodyBytes: number): void {
    const needed = collectedBytes + piece.length;
    if (needed > collected.length) {
      const larger = Buffer.allocUnsafeSlow(
        Math.min(bodyBytes, Math.max(needed, collectedBytes * 2, COLLECTED_BYTES_MIN)),
      );
      collected.copy(larger, 0, 0, collectedBytes);
      collected = larger;
    }
    collected.set(piece, collectedBytes);
    collectedBytes = needed;
  }

  /** Decrypts the whole body in one call, into a buffer that becomes the payload's. */
  function finish(body: Uint8Array): void {
    length = undefined;
    prefixBytes = 0;
    collectedBytes = 0;
    onPayload(checkedPayload(cipher.update(body)));
  }

  return {
    push(received) {
      for (let at = 0; at < received.length;) {
        at = length === undefined ? readPrefix(received, at) : readBody(received, at, length);
      }
    },
    bufferedBytes: () => prefixBytes + collectedBytes,
  };
}

/** @throws AdnlError `frame_length` */
function checkedLength(length: number): number {
  if (length < frameLengthMin || length > frameLengthMax) {
    throw new AdnlError('frame_length', `a frame of ${length} bytes was announced`);
  }
  return length;
}

/** Returns the payload of a decrypted frame body, as a view. @throws AdnlError `frame_hash` */
function checkedPayload(body: Buffer): Buffer {
  const hashAt = body.length - HASH_BYTES;
  if (hash('sha256', body.subarray(0, hashAt), 'hex') !== body.toString('hex', hashAt)) {
    throw new AdnlError('frame_hash', 'a frame fails its hash');
  }
  return body.subarray(NONCE_BYTES, hashAt);
}
