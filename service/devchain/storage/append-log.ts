import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

import { keptNetworkInvalid } from '../chain/errors.ts';

/**
 * A file of records that only grows. A process that is killed during a write leaves a partial record at the end. The next process cuts it
 * off.
 */
export type AppendLog = {
  /** Reads the records from the first on. Call it once, before `append`. */
  records(): Generator<LoggedRecord>;
  /** Bytes of a partial record at the end, which are cut off. Set after the last of `records`. */
  readonly cutBytes: number;
  /** Bytes of whole records. */
  readonly size: number;
  /** Writes a record in one piece. Throws the system's error and leaves the file unchanged. */
  append(payload: Buffer): void;
  close(): void;
};

export type LoggedRecord = {
  readonly payload: Buffer;
  /** The part of the file up to its end, 0 to 1. */
  readonly done: number;
};

/** Before each record: a mark, the length of what follows, and its CRC-32. */
const MARK = Buffer.from('TpR1');
const HEAD_BYTES = 12;

/** Twice the largest blocks of a step. A longer length is no record. */
const PAYLOAD_BYTES_MAX = 256 * 1_048_576;

/**
 * Opens the file, or creates an empty file.
 * @throws the system's error
 */
export function openAppendLog(path: string): AppendLog {
  const file = openSync(path, 'a+', 0o600);
  let size = 0;
  let cutBytes = 0;

  /** Reads the record at a position; undefined when it is not whole. */
  function readAt(at: number, fileBytes: number): Buffer | undefined {
    const head = readBytes(file, at, Math.min(HEAD_BYTES, fileBytes - at));
    if (head.length < HEAD_BYTES || !head.subarray(0, 4).equals(MARK)) return undefined;
    const length = head.readUInt32LE(4);
    if (length > PAYLOAD_BYTES_MAX || at + HEAD_BYTES + length > fileBytes) return undefined;
    const payload = readBytes(file, at + HEAD_BYTES, length);
    return crc32(payload) === head.readUInt32LE(8) ? payload : undefined;
  }

  /** True when a whole record follows a broken record. Then the file was changed, not cut. */
  function isFollowed(at: number, fileBytes: number): boolean {
    const rest = readBytes(file, at, Math.min(fileBytes - at, PAYLOAD_BYTES_MAX));
    for (let mark = rest.indexOf(MARK, 1); mark !== -1; mark = rest.indexOf(MARK, mark + 1)) {
      if (readAt(at + mark, fileBytes) !== undefined) return true;
    }
    return false;
  }

  return {
    *records() {
      const fileBytes = fstatSync(file).size;
      while (size < fileBytes) {
        const payload = readAt(size, fileBytes);
        if (payload === undefined) break;
        size += HEAD_BYTES + payload.length;
        yield { payload, done: size / fileBytes };
      }
      if (size === fileBytes) return;
      if (isFollowed(size, fileBytes)) {
        throw keptNetworkInvalid(path, `The record at byte ${size} is broken, and others follow it.`);
      }
      cutBytes = fileBytes - size;
      ftruncateSync(file, size);
    },
    get cutBytes() {
      return cutBytes;
    },
    get size() {
      return size;
    },
    append(payload) {
      const record = Buffer.alloc(HEAD_BYTES + payload.length);
      MARK.copy(record);
      record.writeUInt32LE(payload.length, 4);
      record.writeUInt32LE(crc32(payload), 8);
      payload.copy(record, HEAD_BYTES);
      try {
        for (let written = 0; written < record.length;) written += writeSync(file, record, written);
      } catch (error) {
        ftruncateSync(file, size);
        throw error;
      }
      size += record.length;
    },
    close() {
      fdatasyncSync(file);
      closeSync(file);
    },
  };
}

function readBytes(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(file, bytes, read, length - read, at + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}
