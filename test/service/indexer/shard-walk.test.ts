import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { IndexerError } from '#service/indexer/errors.ts';
import { type BlockFileReader, createShardWalk } from '#service/indexer/shard-walk.ts';
import type { BlockFile } from '#service/live/blocks/block-files.ts';

const open = new AbortController().signal;
const boc = Buffer.alloc(1);

function id(workchain: number, seqno: number): BlockId {
  const hash = Buffer.alloc(32);
  hash.writeInt32BE(workchain, 0);
  hash.writeUInt32BE(seqno, 4);
  return { workchain, shard: 1n << 63n, seqno, rootHash: hash, fileHash: hash };
}

/** A network whose masterchain block N lists block N * `step` of the basechain. */
function network(step: number, more: Partial<BlockFileReader> = {}): BlockFileReader {
  return {
    masterchainBlock: async (seqno) => id(-1, seqno),
    readFile: async (block): Promise<BlockFile> => ({
      id: block,
      boc,
      utime: block.seqno,
      previous: [id(block.workchain, block.seqno - 1)],
      shards: block.workchain === -1 ? [id(0, block.seqno * step)] : [],
      keyBlockSeqno: 0,
      globalVersion: block.workchain === -1 ? 12 : undefined,
    }),
    readZeroState: async () => boc,
    readGlobalVersion: async () => 11,
    ...more,
  };
}

/** A network whose blocks do not have the version, which is asked for of the key block. */
function versionless(readGlobalVersion: BlockFileReader['readGlobalVersion']): BlockFileReader {
  const { readFile } = network(1);
  return network(1, {
    readFile: async (...given) => ({ ...(await readFile(...given)), globalVersion: undefined }),
    readGlobalVersion,
  });
}

describe('the blocks of a masterchain block', () => {
  it('shard blocks lead back to those of the masterchain block before', async () => {
    const { shards, zeroStates, globalVersion } = await createShardWalk(network(3)).read(2, open);
    expect(shards.map(({ id: { seqno } }) => seqno)).toEqual([4, 5, 6]);
    expect([zeroStates, globalVersion]).toEqual([[], 12]);
  });

  it('the blocks of the first masterchain block lead back to the zerostates of both chains', async () => {
    const { shards, zeroStates } = await createShardWalk(network(2)).read(1, open);
    expect(shards.map(({ id: { seqno } }) => seqno)).toEqual([1, 2]);
    expect(zeroStates.map((one) => one.id)).toEqual([id(-1, 0), id(0, 0)]);
  });

  it('shards that do not lead back within 8,192 blocks are an error', async () => {
    await expect(createShardWalk(network(9_000)).read(2, open)).rejects.toThrow(
      expect.objectContaining({ code: 'chain_broken' }),
    );
  });

  it('a block that cannot be read ends the reads beside it', async () => {
    const ended: boolean[] = [];
    const { readFile } = network(1);
    const reader = network(1, {
      readFile: (block, mcSeqno, signal) => {
        if (block.seqno === 5 && block.workchain === -1) return Promise.reject(new IndexerError('block_missing', 'no'));
        signal.addEventListener('abort', () => ended.push(true));
        return readFile(block, mcSeqno, signal);
      },
    });
    await expect(createShardWalk(reader).read(5, open)).rejects.toThrow(
      expect.objectContaining({ code: 'block_missing' }),
    );
    expect(ended).toEqual([true]);
  });

  it('the version of the rules comes from the key block, once for all blocks after it', async () => {
    let asked = 0;
    const { read } = createShardWalk(versionless(async () => 10 + ++asked));
    expect((await read(2, open)).globalVersion).toBe(11);
    expect((await read(3, open)).globalVersion).toBe(11);
    expect(asked).toBe(1);
  });

  it('an error about the version other than a pruned key block is passed on', async () => {
    const { read } = createShardWalk(versionless(() => Promise.reject(new IndexerError('wrong_block', 'no'))));
    await expect(read(2, open)).rejects.toThrow(expect.objectContaining({ code: 'wrong_block' }));
  });
});
