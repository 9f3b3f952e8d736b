import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { openArchive } from '#service/indexer/archive-index.ts';
import { entriesOf, packageBytes, writePackage } from './packages.ts';

const FULL = 1n << 63n;

function block(workchain: number, seqno: number, text = `block ${seqno}`): { id: BlockId; bytes: Buffer } {
  const hash = Buffer.alloc(32, seqno);
  return { id: { workchain, shard: FULL, seqno, rootHash: hash, fileHash: hash }, bytes: Buffer.from(text) };
}

const entries = (...blocks: readonly ReturnType<typeof block>[]) => blocks.flatMap(entriesOf);
const error = (code: string, text = ''): unknown =>
  expect.objectContaining({ code, message: expect.stringContaining(text) });

describe('an archive of packages', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'archive-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('blocks are read from the package of their group, and from packages without a number', async () => {
    const [first, second, loose] = [block(-1, 5), block(0, 6), block(-1, 205)];
    writePackage(folder, 'arch/archive.00000.pack', entries(first, second));
    writePackage(folder, 'loose.pack', entries(loose));
    writePackage(folder, 'key.archive.000000.pack', entries(block(-1, 7)));
    const archive = await openArchive(folder);
    expect(await archive.masterchainBlock(5)).toEqual(first.id);
    expect(await archive.read(second.id, 5)).toEqual(second.bytes);
    expect(await archive.read(loose.id, 205)).toEqual(loose.bytes);
    expect(await archive.endOfGroup(5)).toBe(205);
    await expect(archive.masterchainBlock(7)).rejects.toThrow(error('block_missing'));
  });

  it('a block below the first package is missing', async () => {
    writePackage(folder, 'archive.00100.pack', entries(block(-1, 100)));
    const archive = await openArchive(folder);
    await expect(archive.masterchainBlock(99)).rejects.toThrow(error('block_missing'));
    expect(await archive.endOfGroup(99)).toBe(0);
  });

  it('another block at the place of the wanted one is refused', async () => {
    writePackage(folder, 'archive.00000.pack', entries(block(-1, 5)));
    const other = { ...block(-1, 5).id, rootHash: Buffer.alloc(32, 9) };
    await expect((await openArchive(folder)).read(other, 5)).rejects.toThrow(error('wrong_block'));
  });

  it('a folder that cannot be read, or has no package, is refused', async () => {
    await expect(openArchive(join(folder, 'nothing'))).rejects.toThrow(error('archive_unusable', 'cannot be read'));
    writeFileSync(join(folder, 'readme.txt'), '');
    await expect(openArchive(folder)).rejects.toThrow(error('archive_unusable', 'no archive package'));
  });

  const good = packageBytes(entries(block(-1, 5)));
  const entryWith = (change: (header: Buffer) => void): Buffer => {
    const header = Buffer.alloc(8);
    header.writeUInt16LE(0x1e8b, 0);
    change(header);
    return Buffer.concat([good, header]);
  };

  it.each([
    ['half an entry', 'ends in an entry', Buffer.concat([good, Buffer.alloc(3)])],
    ['bytes that are no entry', 'no entry', Buffer.concat([good, Buffer.alloc(8)])],
    ['a name of 1,025 bytes', 'impossible name', entryWith((header) => header.writeUInt16LE(1025, 2))],
    ['an entry beyond its end', 'ends in an entry', entryWith((header) => header.writeUInt32LE(1, 4))],
  ])(
    'a package with %s has the blocks before the damage, and names the damage for others',
    async (_what, why, bytes) => {
      writeFileSync(join(folder, 'archive.00000.pack'), bytes);
      const archive = await openArchive(folder);
      expect(await archive.read(block(-1, 5).id, 5)).toEqual(block(-1, 5).bytes);
      await expect(archive.masterchainBlock(6)).rejects.toThrow(error('package_damaged', why));
    },
  );

  it('a file that is no package is damaged', async () => {
    writeFileSync(join(folder, 'archive.00000.pack'), 'no');
    const archive = await openArchive(folder);
    await expect(archive.masterchainBlock(5)).rejects.toThrow(error('package_damaged', 'no archive package'));
  });

  it('a package that becomes shorter after its scan is damaged', async () => {
    const path = writePackage(folder, 'archive.00000.pack', entries(block(-1, 5, 'x'.repeat(100))));
    const archive = await openArchive(folder);
    await archive.masterchainBlock(5);
    truncateSync(path, 300);
    await expect(archive.read(block(-1, 5).id, 5)).rejects.toThrow(error('package_damaged', 'ends in the block'));
  });
});
