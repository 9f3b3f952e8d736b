import type { Cipheriv } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { plainFrame } from '#service/liteserver/adnl/frame.ts';
import type { AdnlFaults } from './adnl-faults.ts';

/** Returns the delay of a query's answer. The query's id, which its client drew, is the source of randomness. */
export function delayMsOf({ delayMs = 0 }: AdnlFaults, queryId: Buffer): number {
  if (typeof delayMs === 'number') return delayMs;
  const part = (at: number): number => (queryId.readUInt32LE(at) + 1) / (2 ** 32 + 1);
  const normal = Math.sqrt(-2 * Math.log(part(0))) * Math.cos(2 * Math.PI * part(4));
  return delayMs.medianMs * Math.exp(delayMs.sigma * normal);
}

/** Returns the encrypted frame of `payload` with the faults applied. The send stream continues. */
export function faultyFrame(payload: Buffer, cipher: Cipheriv, faults: AdnlFaults): Buffer {
  const frame = plainFrame(payload, randomBytes(32));
  if (faults.garbage) randomBytes(frame.length).copy(frame);
  if (faults.badFrameHash) frame.writeUInt8(frame.readUInt8(frame.length - 1) ^ 1, frame.length - 1);
  if (faults.frameLength !== undefined) frame.writeUInt32LE(faults.frameLength, 0);
  const wire = cipher.update(frame);
  return faults.halfFrame ? wire.subarray(0, wire.length >> 1) : wire;
}
