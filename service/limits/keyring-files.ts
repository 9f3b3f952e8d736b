import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';

import { LimitsError } from './errors.ts';
import type { KeyTable } from './key-table.ts';
import { createKeyringReader, type KeyringReader } from './keyring-reader.ts';

/** Keys of all files of a keyring; `sha256` is that of what they hold, in hex, null where there is no file. */
export type Loaded = { readonly table: KeyTable; readonly sha256: string | null };

/** A million rows fit; more is not a keyring. */
const bytesMax = 256 * 1024 * 1024;

/** Secrets hold about 8,000 keys each (operator reference 5.2): those of a million keys, and their doubles while shards change hands. */
const filesMax = 512;

/** Read at once: 2 ms of work, after which requests have their turn. */
const chunkBytes = 128 * 1024;

/** A Secret holds 1 MiB at most; what is packed in it, a few times that. Unpacked whole, in a thread. */
const unpackedBytesMax = 32 * 1024 * 1024;

type KeyringFile = { readonly path: string; readonly bytes: number; readonly stamp: string };

/**
 * The files of a keyring: the file itself, or those in the folder and in its folders, in order of their names. Names that start with a dot are
 * passed over: in a mounted Secret they are the versions that the others point to.
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
  if (files.length > filesMax) {
    throw new LimitsError('keyring_invalid', [`keyring: expected at most ${filesMax} files, got ${files.length}`]);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > bytesMax) {
    throw new LimitsError('keyring_invalid', [`keyring file: expected at most ${bytesMax} bytes, got ${bytes}`]);
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

/** Changes with every write to a file of the keyring, with every file put in the place of another, and with every one that comes or goes. */
export function stampOf(path: string): string {
  return filesOf(path)
    .map((file) => `${file.path} ${file.stamp}`)
    .join('\n');
}

/** Reads a keyring at once, as at the start. Throws LimitsError `keyring_invalid`. */
export function readKeyringNow(path: string): Loaded & { readonly stamp: string } {
  try {
    const stamp = stampOf(path);
    const files = filesOf(path);
    refuseTooMuch(files);
    const reader = createKeyringReader(expectedBytes(files));
    for (const file of files) {
      if (isPacked(file.path)) feedUnpacked(reader, gunzipSync(readFileSync(file.path), unpacking));
      else feedNow(reader, file.path);
      reader.endFile();
    }
    return { ...reader.end(), stamp };
  } catch (error) {
    throw error instanceof LimitsError ? error : unreadable(error);
  }
}

/** Reads a keyring in slices, between which requests have their turn. Rejects with LimitsError `keyring_invalid`. */
export async function readKeyringInTurns(path: string): Promise<Loaded> {
  const files = filesOf(path);
  refuseTooMuch(files);
  const reader = createKeyringReader(expectedBytes(files));
  for (const file of files) {
    const handle = await open(file.path, 'r');
    try {
      if (isPacked(file.path)) await feedPackedInTurns(reader, handle);
      else await feedInTurns(reader, handle);
    } finally {
      await handle.close();
    }
    reader.endFile();
  }
  return reader.end();
}

function feedNow(reader: KeyringReader, path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(chunkBytes);
    for (let bytes = readSync(descriptor, chunk); bytes > 0; bytes = readSync(descriptor, chunk)) {
      reader.feed(chunk.subarray(0, bytes));
    }
  } finally {
    closeSync(descriptor);
  }
}

async function feedInTurns(reader: KeyringReader, handle: FileHandle): Promise<void> {
  const chunk = Buffer.alloc(chunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(chunk);
    if (bytesRead === 0) return;
    reader.feed(chunk.subarray(0, bytesRead));
    await nextTurn();
  }
}

const unpacking = { maxOutputLength: unpackedBytesMax };

async function feedPackedInTurns(reader: KeyringReader, handle: FileHandle): Promise<void> {
  const bytes = await promisify(gunzip)(await handle.readFile(), unpacking);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.feed(bytes.subarray(at, at + chunkBytes));
    await nextTurn();
  }
}

function feedUnpacked(reader: KeyringReader, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.feed(bytes.subarray(at, at + chunkBytes));
}

/** By what the file starts with, whatever its name. */
function isPacked(path: string): boolean {
  const start = Buffer.alloc(2);
  const descriptor = openSync(path, 'r');
  try {
    return readSync(descriptor, start) === 2 && start[0] === 0x1f && start[1] === 0x8b;
  } finally {
    closeSync(descriptor);
  }
}

/** Hashes hardly pack: what is unpacked is at most three times as long; the table grows if it is not so. */
function expectedBytes(files: readonly KeyringFile[]): number {
  return files.reduce((sum, { path, bytes }) => sum + (isPacked(path) ? 3 * bytes : bytes), 0);
}

export function unreadable(error: unknown): LimitsError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new LimitsError('keyring_invalid', [`keyring file cannot be read: ${code}`]);
}
