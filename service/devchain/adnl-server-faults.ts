import type { Cipheriv } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { plainFrame } from '../liteserver/adnl/frame.ts';
import type { AdnlFaults } from './adnl-faults.ts';

/** The frame of `payload` as the faults spoil it, encrypted; the send stream goes on. */
export function faultyFrame(payload: Buffer, cipher: Cipheriv, faults: AdnlFaults): Buffer {
  const frame = plainFrame(payload, randomBytes(32));
  if (faults.garbage) randomBytes(frame.length).copy(frame);
  if (faults.badFrameHash) frame.writeUInt8(frame.readUInt8(frame.length - 1) ^ 1, frame.length - 1);
  if (faults.frameLength !== undefined) frame.writeUInt32LE(faults.frameLength, 0);
  const wire = cipher.update(frame);
  return faults.halfFrame ? wire.subarray(0, wire.length >> 1) : wire;
}
