import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { LimitsError } from './errors.ts';
import type { PackedKeys } from './key-table.ts';
import { createKeyringReader, type KeyringReader } from './keyring-reader.ts';

/** Keys of all files of a keyring. `sha256` is the hash of their contents, in hex. */
export type ReadKeyring = { readonly keys: PackedKeys; readonly sha256: string };

/** Most bytes of a keyring; a million rows fit. */
const BYTES_MAX = 256 * 1024 * 1024;

/** Most files: Secrets with about 8,000 keys each for a million keys, twice. While shards exchange keys, two Secrets may have the same keys. */
const FILES_MAX = 512;

/** Bytes of one read. */
const CHUNK_BYTES = 128 * 1024;

/** Most bytes of an unpacked file. A Secret has at most 1 MiB, a few times that unpacked. The file is unpacked in one piece. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024;

type KeyringFile = { readonly path: string; readonly bytes: number; readonly stamp: string };

/**
 * Returns the files of a keyring, sorted by name: the file itself, or all files in the folder and its subfolders. Names that start with a dot are
 * skipped. In a mounted Secret they are the versions that links point to.
 */
function filesOf(path: string): KeyringFile[] {
  const paths: string[] = [];
  const walk = (at: string, depth: number): void => {
    if (!statSync(at).isDirectory()) paths.push(at);
    else if (depth < 2) visibleIn(at).forEach((name) => walk(join(at, name), depth + 1));
  };
  walk(path, 0);
  return paths.map((each) => ({ path: each, ...factsOf(each) }));
}

function refuseTooMuch(files: readonly KeyringFile[]): void {
  if (files.length > FILES_MAX) {
    throw new LimitsError('keyring_invalid', [`keyring: expected at most ${FILES_MAX} files, got ${files.length}`]);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > BYTES_MAX) {
    throw new LimitsError('keyring_invalid', [`keyring file: expected at most ${BYTES_MAX} bytes, got ${bytes}`]);
  }
}

function visibleIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .toSorted();
}

function factsOf(path: string): { bytes: number; stamp: string } {
  const { mtimeNs, ctimeNs, size, ino } = statSync(path, { bigint: true });
  return { bytes: Number(size), stamp: `${mtimeNs} ${ctimeNs} ${size} ${ino}` };
}

/** Returns a stamp that changes when a file of the keyring is written, replaced, added or removed. */
export function stampOf(path: string): string {
  return filesOf(path)
    .map((file) => `${file.path} ${file.stamp}`)
    .join('\n');
}

/** Returns the approximate bytes to read; a packed file counts with its unpacked size. Throws errors of the file system. */
export function bytesOf(path: string): number {
  return expectedBytes(filesOf(path));
}

/** Reads a keyring, 1.5 us a key. Throws LimitsError `keyring_invalid`. */
export function readKeyring(path: string): ReadKeyring {
  try {
    const files = filesOf(path);
    refuseTooMuch(files);
    const reader = createKeyringReader(expectedBytes(files));
    for (const file of files) {
      if (isPacked(file.path)) feedUnpacked(reader, gunzipSync(readFileSync(file.path), unpacking));
      else feedPlain(reader, file.path);
      reader.endFile();
    }
    return reader.end();
  } catch (error) {
    throw error instanceof LimitsError ? error : unreadable(error);
  }
}

function feedPlain(reader: KeyringReader, path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let bytes = readSync(descriptor, chunk); bytes > 0; bytes = readSync(descriptor, chunk)) {
      reader.feed(chunk.subarray(0, bytes));
    }
  } finally {
    closeSync(descriptor);
  }
}

const unpacking = { maxOutputLength: UNPACKED_BYTES_MAX };

function feedUnpacked(reader: KeyringReader, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) reader.feed(bytes.subarray(at, at + CHUNK_BYTES));
}

/** Detects gzip by the first bytes, whatever the name. */
function isPacked(path: string): boolean {
  const start = Buffer.alloc(2);
  const descriptor = openSync(path, 'r');
  try {
    return readSync(descriptor, start) === 2 && start[0] === 0x1f && start[1] === 0x8b;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Estimates the unpacked bytes. Hashes hardly compress, so unpacked data is at most three times as long. The table grows if the estimate is too low.
 */
function expectedBytes(files: readonly KeyringFile[]): number {
  return files.reduce((sum, { path, bytes }) => sum + (isPacked(path) ? 3 * bytes : bytes), 0);
}

/** The error of a keyring file that cannot be read, with the code of the system and without the path. */
export function unreadable(error: unknown): LimitsError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new LimitsError('keyring_invalid', [`keyring file cannot be read: ${code}`]);
}
