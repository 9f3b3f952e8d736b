import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { shardIsAncestor } from '#service/decode/shard.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { RecordedBlock } from '#service/devchain/chain/recording.ts';
import { createArchiveSource } from '#service/indexer/archive-source.ts';
import { createFallbackSource } from '#service/indexer/fallback-source.ts';
import { createLiteServerSource } from '#service/indexer/lite-server-source.ts';
import type { BlockSource, SourceBlocks } from '#service/indexer/source.ts';
import { answeredError } from '#service/liteserver/errors.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import type { LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import type { PoolUnderTest } from '../pool/network.ts';
import { openPool, patientTuning, startNetwork, until } from '../pool/network.ts';
import { entriesOf, packageBytes, writeArchive, writePackage } from './packages.ts';
import { recordedBlocks } from './recorded-blocks.ts';
import { filesOver, readAll, readRecording, readZeroStates, shown } from './recording.ts';

let blocks: readonly RecordedBlock[];
let network: Devchain;
let open: PoolUnderTest;
let files: LiveBlockFiles;
let folder: string;
let last: number;
const signal = new AbortController().signal;

function withBitTipped(bytes: Buffer, at: number): Buffer {
  const spoilt = Buffer.from(bytes);
  spoilt.writeUInt8(spoilt.readUInt8(at) ^ 1, at);
  return spoilt;
}

beforeAll(async () => {
  blocks = await readRecording();
  network = await startNetwork(2);
  last = network.chain.lastSeqno;
  network.moveHead(last);
  open = openPool(network, { tuning: patientTuning });
  files = filesOver(open.pool);
  await until(() => open.pool.head()?.block.seqno === last);
  folder = mkdtempSync(join(tmpdir(), 'archive-'));
  writeArchive(join(folder, 'whole'), blocks);
});

afterAll(async () => {
  await open.close();
  await network.close();
  rmSync(folder, { recursive: true });
});

/** A source whose key blocks are refused so many times, then read. */
function withoutVersions(refused: Error, times = Infinity): BlockSource {
  let left = times;
  const readGlobalVersion: LiveBlockFiles['readGlobalVersion'] = async (keyBlockSeqno, context) => {
    if (left-- > 0) throw refused;
    return files.readGlobalVersion(keyBlockSeqno, context);
  };
  return createLiteServerSource({ stream: 'head' }, { files: { ...files, readGlobalVersion } });
}

describe('blocks of the recorded network', () => {
  let ofLiteServers: readonly SourceBlocks[];

  beforeAll(async () => {
    ofLiteServers = await readAll(createLiteServerSource({ stream: 'head' }, { files }), 1, last);
  });

  test('from lite servers are all blocks, each with the masterchain block that brings it', () => {
    const expected = Map.groupBy(blocks, ({ masterchainSeqno }) => masterchainSeqno);
    expect(ofLiteServers.map(({ mcSeqno }) => mcSeqno)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    for (const { mcSeqno, masterchain, shards } of ofLiteServers) {
      const found = [masterchain, ...shards].map(({ id }) => id.rootHash.toString('hex'));
      expect(found.toSorted()).toEqual(
        expected
          .get(mcSeqno)
          ?.map(({ id }) => id.rootHash.toString('hex'))
          .toSorted(),
      );
    }
    expect(ofLiteServers.reduce((sum, { shards }) => sum + shards.length + 1, 0)).toBe(blocks.length);
  });

  test('begin with the zerostates of both chains, which come with the first block', async () => {
    const expected = (await readZeroStates()).map(({ id, boc }) => [id.workchain, id.rootHash.toString('hex'), boc]);
    const [first, ...others] = ofLiteServers.map(({ zeroStates }) => zeroStates);
    expect(first!.map(({ id, boc }) => [id.workchain, id.rootHash.toString('hex'), boc])).toEqual(expected);
    expect(others.flat()).toEqual([]);
  });

  test('are the files that their ids name', () => {
    for (const { masterchain, shards } of ofLiteServers) {
      for (const { id, boc } of [masterchain, ...shards]) {
        expect(createHash('sha256').update(boc).digest().equals(id.fileHash)).toBe(true);
      }
    }
  });

  test('have the version of the rules that the configuration has by then, unless lite servers lack the key block', async () => {
    const expected = (await recordedBlocks()).map(({ globalVersion }) => globalVersion);
    expect(ofLiteServers.map(({ globalVersion }) => globalVersion)).toEqual(expected);
    expect(expected.every((version) => version! > 0)).toBe(true);
    const gone = withoutVersions(answeredError('getBlock', 651, 'block is not in db'));
    expect(await gone.read(2, signal)).toMatchObject({ mcSeqno: 2, globalVersion: undefined });
    await expect(withoutVersions(new Error('no answer')).read(2, signal)).rejects.toThrow('no answer');
  });

  test('have the version of their rules although lite servers lack the key block for a moment', async () => {
    const lacking = withoutVersions(answeredError('getBlock', 651, 'block is not in db'), 2);
    const [expected] = ofLiteServers.filter(({ mcSeqno }) => mcSeqno === 2);
    expect((await lacking.read(2, signal)).globalVersion).toBe(expected!.globalVersion);
  });

  test('come in an order in which each shard block follows what it is built on, through splits and merges', () => {
    const heights = new Map<bigint, number>();
    let splits = 0;
    for (const { shards } of ofLiteServers) {
      for (const { id } of shards) {
        const before = [...heights].filter(
          ([shard]) => shardIsAncestor(shard, id.shard) || shardIsAncestor(id.shard, shard),
        );
        for (const [shard, seqno] of before) {
          expect(seqno).toBeLessThanOrEqual(id.seqno);
          if (shard !== id.shard) splits += 1;
        }
        heights.set(id.shard, id.seqno);
      }
    }
    expect(splits).toBeGreaterThan(0);
  });

  test('from archive packages are the same, with a hundredth of the questions to lite servers', async () => {
    let proofs = 0;
    const counted = {
      ...files,
      masterchainBlock(seqno: number, context: ReadContext) {
        proofs += 1;
        return files.masterchainBlock(seqno, context);
      },
    };
    const source = await createArchiveSource({ folder: join(folder, 'whole') }, { files: counted });
    const ofPackages = await readAll(source, 1, last);
    expect(ofPackages.map(shown)).toEqual(ofLiteServers.map(shown));
    expect(proofs).toBeLessThanOrEqual(Math.ceil(last / 100) + Math.floor(last / 100));
  });

  test('from packages whose names tell nothing are found too', async () => {
    const apart = join(folder, 'loose');
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 40);
    writePackage(
      apart,
      'temp.archive.1700000000.pack',
      some.filter(({ id }) => id.workchain === -1).flatMap(entriesOf),
    );
    writePackage(apart, 'other.pack', some.filter(({ id }) => id.workchain !== -1).flatMap(entriesOf));
    const source = await createArchiveSource({ folder: apart }, { files });
    const found = await readAll(source, 1, 40);
    expect(found.map(shown)).toEqual(ofLiteServers.slice(0, 40).map(shown));
  });

  test('from packages that are links are found too', async () => {
    const apart = mkdtempSync(join(folder, 'linked-'));
    const name = 'archive.00000.pack';
    symlinkSync(join(folder, 'whole/arch0000', name), join(apart, name));
    const source = await createArchiveSource({ folder: apart }, { files });
    expect((await readAll(source, 1, 5)).map(shown)).toEqual(ofLiteServers.slice(0, 5).map(shown));
  });

  test('begin where the packages begin', async () => {
    const apart = join(folder, 'late');
    writeArchive(
      apart,
      blocks.filter(({ masterchainSeqno }) => masterchainSeqno >= 249),
    );
    const source = await createArchiveSource({ folder: apart }, { files });
    const found = await readAll(source, 250, 260);
    expect(found.map(shown)).toEqual(ofLiteServers.slice(249, 260).map(shown));
    await expect(source.read(100, signal)).rejects.toMatchObject({ code: 'block_missing' });
  });
});

describe('damaged archive packages', () => {
  const damages: readonly {
    name: string;
    spoil: (path: string, size: number) => void;
    error: object;
    first: object;
  }[] = [
    {
      name: 'that end in an entry are used up to there, and say where they end',
      spoil: (path, size) => truncateSync(path, size - 100),
      error: { code: 'package_damaged' },
      first: { mcSeqno: 1 },
    },
    {
      name: 'that are no packages say so',
      spoil: (path) => writeFileSync(path, 'these are not the bytes of a package'),
      error: { code: 'package_damaged', data: { offset: 0 } },
      first: { code: 'package_damaged' },
    },
    {
      name: 'that are empty say so',
      spoil: (path) => writeFileSync(path, ''),
      error: { code: 'package_damaged', data: { offset: 0 } },
      first: { code: 'package_damaged' },
    },
    {
      name: 'with a broken entry header are used up to there',
      spoil: (path, size) => {
        const bytes = readFileSync(path);
        bytes.writeUInt16LE(0x1111, bytes.lastIndexOf(Buffer.from([0x8b, 0x1e])));
        writeFileSync(path, bytes.subarray(0, size));
      },
      error: { code: 'package_damaged' },
      first: { mcSeqno: 1 },
    },
  ];

  test.each(damages)('$name', async ({ spoil, error, first }) => {
    const apart = mkdtempSync(join(folder, 'damaged-'));
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 3);
    const path = writePackage(apart, 'archive.00000.pack', some.flatMap(entriesOf));
    const size = packageBytes(some.flatMap(entriesOf)).length;
    spoil(path, size);
    const source: BlockSource = await createArchiveSource({ folder: apart }, { files });
    const [lastBlock] = some.slice(-1);
    await expect(source.read(lastBlock!.masterchainSeqno, signal)).rejects.toMatchObject(error);
    const begin = await source.read(1, signal).catch((refused: unknown) => refused);
    expect(begin).toMatchObject(first);
  });

  test('are used before and behind a block that they do not have as it was', async () => {
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 6);
    const entries = some.toReversed().flatMap(entriesOf);
    const masterchain = some.find(({ id }) => id.workchain === -1 && id.seqno === 3)!;
    const [broken, tipped] = ['header', 'tipped'].map((name) => mkdtempSync(join(folder, `${name}-`)));
    const bytes = packageBytes(entries);
    const at = bytes.indexOf(masterchain.bytes);
    writeFileSync(join(broken!, 'archive.00000.pack'), withBitTipped(bytes, bytes.lastIndexOf('block_', at) - 8));
    writeFileSync(join(tipped!, 'archive.00000.pack'), withBitTipped(bytes, at + (masterchain.bytes.length >> 1)));

    const behind = await createArchiveSource({ folder: broken! }, { files });
    const without = await createArchiveSource({ folder: tipped! }, { files });
    for (const seqno of [5, 6]) expect((await behind.read(seqno, signal)).mcSeqno).toBe(seqno);
    for (const seqno of [6, 5, 2, 1]) expect((await without.read(seqno, signal)).mcSeqno).toBe(seqno);
    // The block after it too: which shard blocks it brings is told by the two together.
    for (const seqno of [3, 4]) {
      await expect(behind.read(seqno, signal)).rejects.toMatchObject({ code: 'package_damaged' });
      await expect(without.read(seqno, signal)).rejects.toMatchObject({ code: 'wrong_block' });
    }
  });

  test('with another block in the place of one are refused', async () => {
    const apart = join(folder, 'forged');
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 2);
    const forged = some.map((block) => {
      if (block.id.workchain === -1) return block;
      return { ...block, bytes: withBitTipped(block.bytes, block.bytes.length - 1) };
    });
    writePackage(apart, 'archive.00000.pack', forged.flatMap(entriesOf));
    const source = await createArchiveSource({ folder: apart }, { files });
    const bringing = some.find(({ id }) => id.workchain !== -1)!.masterchainSeqno;
    await expect(source.read(bringing, signal)).rejects.toMatchObject({ code: 'wrong_block' });
  });

  test.each([
    { name: 'a shard block', isSpoilt: (block: RecordedBlock) => block.id.workchain !== -1 },
    { name: 'a masterchain block', isSpoilt: (block: RecordedBlock) => block.id.workchain === -1 },
  ])('with a bit of $name that has tipped do not hold up the past: lite servers have it', async ({ isSpoilt }) => {
    const apart = mkdtempSync(join(folder, 'tipped-'));
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 3);
    const spoilt = some.map((block) => {
      return isSpoilt(block) ? { ...block, bytes: withBitTipped(block.bytes, block.bytes.length >> 1) } : block;
    });
    writePackage(apart, 'archive.00000.pack', spoilt.flatMap(entriesOf));
    const liteServers = createLiteServerSource({ stream: 'backfill' }, { files });
    const source = createFallbackSource({
      archive: await createArchiveSource({ folder: apart }, { files }),
      liteServers,
    });
    const found = await readAll(source, 1, 3);
    expect(found.map(shown)).toEqual((await readAll(liteServers, 1, 3)).map(shown));
  });

  test('that name another root hash for the bytes of a block are refused', async () => {
    const apart = join(folder, 'renamed');
    const some = blocks.filter(({ masterchainSeqno }) => masterchainSeqno <= 2);
    const renamed = some.map((block) =>
      block.id.workchain === -1 ? block : { ...block, id: { ...block.id, rootHash: Buffer.alloc(32, 1) } },
    );
    writePackage(apart, 'archive.00000.pack', renamed.flatMap(entriesOf));
    const source = await createArchiveSource({ folder: apart }, { files });
    const bringing = some.find(({ id }) => id.workchain !== -1)!.masterchainSeqno;
    await expect(source.read(bringing, signal)).rejects.toMatchObject({ code: 'wrong_block' });
  });

  test('in a folder without any say so', async () => {
    await expect(createArchiveSource({ folder: join(folder, 'nowhere') }, { files })).rejects.toMatchObject({
      code: 'archive_unusable',
    });
  });
});
