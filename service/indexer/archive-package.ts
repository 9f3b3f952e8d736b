import type { FileHandle } from 'node:fs/promises';

import type { BlockId } from '../decode/block-id.ts';
import { DEFAULT_BOC_LIMITS } from '../decode/boc.ts';
import { IndexerError } from './errors.ts';

/**
 * Archive package of a node: `0xae8fdd01` as a little-endian word, then entries until the end. An entry is `0x1e8b` and the name's length
 * (16 bits each), the data's length (32 bits), name and data. All numbers are little-endian.
 */
const PACKAGE_MAGIC = 0xae8fdd01;
const ENTRY_MAGIC = 0x1e8b;
const PACKAGE_HEADER_BYTES = 4;
const ENTRY_HEADER_BYTES = 8;

/** Names have some 170 characters; a longer name is damage. */
const NAME_BYTES_MAX = 1_024;

/** A read returns a header and the name after it. */
const READ_BYTES = ENTRY_HEADER_BYTES + NAME_BYTES_MAX;

/** Position of an entry's data. */
export type PackageEntry = { readonly name: string; readonly offset: number; readonly bytes: number };

/**
 * Entries in order. Reads headers and names only: memory does not depend on the size of the package.
 * @throws IndexerError `package_damaged`, after the entries before the damage
 */
export async function* scanPackage(file: FileHandle, path: string): AsyncGenerator<PackageEntry> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(READ_BYTES);
  const damaged = (what: string, offset: number): IndexerError =>
    new IndexerError('package_damaged', `${path}: ${what} at byte ${offset}.`, { file: path, offset });

  const first = await file.read(buffer, 0, PACKAGE_HEADER_BYTES, 0);
  if (first.bytesRead < PACKAGE_HEADER_BYTES || buffer.readUInt32LE(0) !== PACKAGE_MAGIC) {
    throw damaged('no archive package', 0);
  }
  for (let at = PACKAGE_HEADER_BYTES; at < size;) {
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, at);
    if (bytesRead < ENTRY_HEADER_BYTES) throw damaged('the package ends in an entry', at);
    if (buffer.readUInt16LE(0) !== ENTRY_MAGIC) throw damaged('no entry', at);
    const nameBytes = buffer.readUInt16LE(2);
    const bytes = buffer.readUInt32LE(4);
    if (nameBytes > NAME_BYTES_MAX) throw damaged('an entry has an impossible name', at);
    const offset = at + ENTRY_HEADER_BYTES + nameBytes;
    if (offset + bytes > size) throw damaged('the package ends in an entry', at);
    yield { name: buffer.toString('latin1', ENTRY_HEADER_BYTES, ENTRY_HEADER_BYTES + nameBytes), offset, bytes };
    at = offset + bytes;
  }
}

/** `block_(0,8000000000000000,77):ROOTHASH:FILEHASH`; other entries are proofs, signatures and states. */
const BLOCK_NAME = /^block_\((-?\d{1,10}),([0-9a-f]{16}),(\d{1,10})\):([0-9a-f]{64}):([0-9a-f]{64})$/i;

/** The block in an entry; undefined for an entry of another kind. */
export function blockOfName(name: string): BlockId | undefined {
  const [, workchain, shard, seqno, rootHash, fileHash] = BLOCK_NAME.exec(name) ?? [];
  if (workchain === undefined || rootHash === undefined || fileHash === undefined) return undefined;
  return {
    workchain: Number(workchain),
    shard: BigInt(`0x${shard}`),
    seqno: Number(seqno),
    rootHash: Buffer.from(rootHash, 'hex'),
    fileHash: Buffer.from(fileHash, 'hex'),
  };
}

/**
 * Data of an entry.
 * @throws IndexerError `package_damaged` when the file became shorter since the scan, or the data is larger than any block
 */
export async function readEntry(file: FileHandle, path: string, entry: Omit<PackageEntry, 'name'>): Promise<Buffer> {
  const { offset, bytes } = entry;
  if (bytes > DEFAULT_BOC_LIMITS.bytesMax) {
    const data = { file: path, offset, found: bytes, limit: DEFAULT_BOC_LIMITS.bytesMax };
    throw new IndexerError('package_damaged', `${path}: the block at byte ${offset} is too large.`, data);
  }
  // Allocated outside of the pool of small buffers, because it lives as long as the block.
  const data = Buffer.allocUnsafeSlow(bytes);
  for (let done = 0; done < bytes;) {
    const { bytesRead } = await file.read(data, done, bytes - done, offset + done);
    if (bytesRead === 0) {
      throw new IndexerError('package_damaged', `${path}: the package ends in the block at byte ${offset}.`, {
        file: path,
        offset,
      });
    }
    done += bytesRead;
  }
  return data;
}
