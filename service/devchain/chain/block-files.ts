import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes of blocks on disk. Only the process has access to the files. The system frees them however the process ends. */
export type BlockFiles = {
  /** Throws the system's error, such as a full disk. */
  put(bytes: Buffer): StoredBlock;
  /** Releases all blocks. */
  close(): void;
};

/** Position of one block in the files. */
export type StoredBlock = {
  /** In bytes. */
  readonly length: number;
  /** The bytes. Throws the system's error. */
  read(): Buffer;
  /** Releases the block. A file is removed with its last block. */
  drop(): void;
};

/** Size in bytes at which a file is complete. A file's space is freed with its last block: some 1,500 empty blocks of both chains. */
const FILE_BYTES_MAX = 8 * 1_048_576;

type File = { readonly descriptor: number; bytes: number; blocks: number };

/** Stores blocks in memory: the blocks of a recording, which does not grow. */
export const inMemory: Pick<BlockFiles, 'put'> = {
  put: (bytes) => ({ length: bytes.length, read: () => bytes, drop() {} }),
};

/** Files in the system's folder for temporary ones. */
export function createBlockFiles(): BlockFiles {
  const files = new Set<File>();
  let newest: File | undefined;

  function remove(file: File): void {
    if (files.delete(file)) closeSync(file.descriptor);
    if (file === newest) newest = undefined;
  }

  return {
    put(bytes) {
      if (newest === undefined || newest.bytes >= FILE_BYTES_MAX) {
        newest = { descriptor: openUnnamed(), bytes: 0, blocks: 0 };
        files.add(newest);
      }
      const file = newest;
      const [at, { length }] = [file.bytes, bytes];
      for (let done = 0; done < length;) {
        done += writeSync(file.descriptor, bytes, done, length - done, at + done);
      }
      file.bytes += length;
      file.blocks++;
      return {
        length,
        read: () => readWhole(file.descriptor, at, length),
        drop() {
          file.blocks--;
          if (file.blocks === 0) remove(file);
        },
      };
    },
    close() {
      for (const file of files) remove(file);
    },
  };
}

/** A file without a name. */
function openUnnamed(): number {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-blocks-'));
  const descriptor = openSync(join(folder, 'blocks'), 'wx+', 0o600);
  rmSync(folder, { recursive: true });
  return descriptor;
}

function readWhole(descriptor: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length;) {
    const read = readSync(descriptor, bytes, done, length - done, at + done);
    if (read === 0) throw new Error('a block is missing from its file');
    done += read;
  }
  return bytes;
}
