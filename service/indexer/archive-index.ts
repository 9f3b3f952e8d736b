import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { BlockId } from '../decode/block-id.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { blockOfName, readEntry, scanPackage } from './archive-package.ts';
import { IndexerError } from './errors.ts';
import { createPromiseCache } from '../runtime/promise-cache.ts';

/** File of a block. */
type BlockPlace = { readonly block: BlockId; readonly path: string; readonly offset: number; readonly bytes: number };

/** Contents of the packages of a group. */
type Group = {
  readonly places: ReadonlyMap<string, BlockPlace>;
  /** Highest seqno of a masterchain block; 0 without a masterchain block. */
  readonly newestSeqno: number;
  /** The first package that could not be read to its end. */
  readonly damage: IndexerError | undefined;
};

/** Blocks in a folder of archive packages, found without the node's own index. */
export type ArchiveIndex = {
  /** The masterchain block of a seqno that a package names, not proved. Rejects with IndexerError `block_missing`. */
  masterchainBlock(seqno: number): Promise<BlockId>;
  /**
   * Bytes of a block in a package, unchecked.
   * @param near masterchain seqno whose package is searched
   */
  read(block: BlockId, near: number): Promise<Buffer>;
  /** The last masterchain block of the package group of a seqno. */
  readonly endOfGroup: (seqno: number) => Promise<number>;
};

/**
 * Groups whose positions are in memory: the group of the past, and the groups of the range readers. A group is some hundred blocks. A group
 * of an old node is up to 20,000 masterchain blocks with their shards: some 30 MB.
 */
const GROUPS_MAX = 6;

/** Blocks in packages whose name has no first seqno. All of them are in memory, some 300 bytes each. */
const LOOSE_BLOCKS_MAX = 200_000;

/** `archive.00100.pack`, `archive.00100.0:8000000000000000.pack`: the name has the first masterchain seqno of the package. */
const PACKAGE_NAME = /^archive\.(\d+)(\.-?\d+[:_][0-9a-f]{16})?\.pack$/i;

/** `key.archive.000000.pack` holds proofs of key blocks and no block. */
const KEY_PACKAGE_NAME = /^key\.archive\./i;

/**
 * Lists the packages below a folder. Packages named by their first masterchain seqno are scanned on demand, others at once.
 * @throws IndexerError `archive_unusable`
 */
export async function openArchive(folder: string): Promise<ArchiveIndex> {
  const { starts, loose: loosePaths } = await listPackages(folder);
  const seqnos = [...starts.keys()].toSorted((a, b) => a - b);
  const groups = createPromiseCache<Group>({ max: GROUPS_MAX });
  const loose = await scanGroup(loosePaths, LOOSE_BLOCKS_MAX);

  /** The group that begins at or below the seqno; undefined when all begin above. */
  function groupOf(seqno: number): Promise<Group> | undefined {
    const start = seqnos.findLast((one) => one <= seqno);
    if (start === undefined) return undefined;
    return groups.get(start, never, () => scanGroup(starts.get(start) ?? [], Number.POSITIVE_INFINITY));
  }

  async function find(place: Pick<BlockId, 'workchain' | 'shard' | 'seqno'>, near: number): Promise<BlockPlace> {
    const name = placeName(place);
    const group = await groupOf(near);
    const found = group?.places.get(name) ?? loose.places.get(name);
    if (found !== undefined) return found;
    const damage = group?.damage ?? loose.damage;
    if (damage !== undefined) throw damage;
    const block = blockText(place);
    throw new IndexerError('block_missing', `The archive packages have no block ${block}.`, { block, file: folder });
  }

  return {
    async masterchainBlock(seqno) {
      return (await find({ workchain: MASTERCHAIN, shard: FULL_SHARD, seqno }, seqno)).block;
    },

    async read(block, near) {
      const place = await find(block, near);
      if (!sameBlock(place.block, block)) {
        const text = `${place.path} has another block at ${blockText(block)}.`;
        const data = { block: blockText(block), file: place.path, offset: place.offset };
        throw new IndexerError('wrong_block', text, data);
      }
      const file = await open(place.path, 'r');
      try {
        return await readEntry(file, place.path, place);
      } finally {
        await file.close();
      }
    },

    async endOfGroup(seqno) {
      return Math.max((await groupOf(seqno))?.newestSeqno ?? 0, loose.newestSeqno);
    },
  };
}

/** A scan is short and has several callers: no caller's signal ends it. */
const never = new AbortController().signal;

async function listPackages(folder: string): Promise<{ starts: Map<number, string[]>; loose: string[] }> {
  const starts = new Map<number, string[]>();
  const loose: string[] = [];
  let entries;
  try {
    entries = await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    const text = `The folder of archive packages cannot be read: ${folder}.`;
    throw new IndexerError('archive_unusable', text, { file: folder }, error);
  }
  // A link may point to a package on another disk.
  const files = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of files.filter((one) => one.endsWith('.pack')).toSorted()) {
    const name = basename(path);
    const start = PACKAGE_NAME.exec(name)?.[1];
    if (KEY_PACKAGE_NAME.test(name)) continue;
    if (start === undefined) loose.push(path);
    else starts.set(Number(start), [...(starts.get(Number(start)) ?? []), path]);
  }
  if (starts.size === 0 && loose.length === 0) {
    throw new IndexerError('archive_unusable', `There is no archive package below ${folder}.`, { file: folder });
  }
  return { starts, loose };
}

async function scanGroup(paths: readonly string[], blocksMax: number): Promise<Group> {
  const places = new Map<string, BlockPlace>();
  let newestSeqno = 0;
  let damage: IndexerError | undefined;
  for (const path of paths) {
    const file = await open(path, 'r');
    try {
      for await (const { name, offset, bytes } of scanPackage(file, path)) {
        const block = blockOfName(name);
        if (block === undefined) continue;
        places.set(placeName(block), { block, path, offset, bytes });
        if (block.workchain === MASTERCHAIN) newestSeqno = Math.max(newestSeqno, block.seqno);
        if (places.size > blocksMax) throw tooManyLoose(path);
      }
    } catch (error) {
      // Entries before the damage are usable: a stopped node leaves half an entry in the last package.
      if (!(error instanceof IndexerError) || error.code !== 'package_damaged') throw error;
      damage ??= error;
    } finally {
      await file.close();
    }
  }
  return { places, newestSeqno, damage };
}

function tooManyLoose(file: string): IndexerError {
  return new IndexerError(
    'archive_unusable',
    `Packages that are not named archive.SEQNO.pack hold more than ${LOOSE_BLOCKS_MAX} blocks.`,
    { file, limit: LOOSE_BLOCKS_MAX },
  );
}

function placeName({ workchain, shard, seqno }: Pick<BlockId, 'workchain' | 'shard' | 'seqno'>): string {
  return `${workchain}:${shard.toString(16)}:${seqno}`;
}
