import { afterAll, describe, expect, it } from 'vitest';

import { BitWriter } from '#service/decode/bit-writer.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { editConfig } from '#service/devchain/chain/edit-builders.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { LookupKey } from '#service/devchain/chain/chain-view.ts';
import { findBlock, lookUpBlock } from '#service/devchain/chain/chain-view.ts';
import { startApiOver } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';

/** What some hundred empty steps take, less than the 64 that always stay do. */
const blockBytesMax = 1_000_000;
const STEPS = 400;

describe('a network that runs for longer than there is room for its blocks', async () => {
  const network = await startPrivateNetwork({ blockBytesMax });
  const { chain } = network;
  const dev = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: () => 0 }) });
  const { snapshot } = (await dev.dev_snapshot({})) as { snapshot: number };
  const ids: BlockId[] = [];
  const sizes: number[] = [];
  let keySeqno = 0;
  for (let step = 0; step < STEPS; step++) {
    const { block } = await network.step(
      step === 20 ? [editConfig((states) => new Map([[71, new BitWriter().uint(7, 8).finish(states)]]))] : [],
    );
    ids.push(block.id);
    sizes.push(chain.blockBytes);
    if (block.header.keyBlock) keySeqno = block.id.seqno;
  }
  const api = await startApiOver(network);
  afterAll(async () => {
    await api.close();
    await network.close();
  });
  const view = { chain, tip: chain.lastSeqno, nowSeconds: 0 };
  const lookUp = (by: LookupKey['by'], value: bigint | number): BlockId =>
    lookUpBlock(view, MASTERCHAIN, FULL_SHARD, { by, value: BigInt(value) }).id;

  it('a network holds at most its bound of bytes and the bytes of one step', () => {
    expect(Math.max(...sizes)).toBeLessThan(blockBytesMax + 20_000);
    expect(Math.min(...sizes.slice(200))).toBeGreaterThan((blockBytesMax / 8) * 6);
    expect(chain.firstSeqno).toBeGreaterThan(STEPS / 2);
  });

  it('has every block from the first one on, and the shard blocks that came with it', () => {
    for (const id of ids.filter(({ seqno }) => seqno >= chain.firstSeqno)) {
      const block = findBlock(view, id);
      expect(block.shards.every((top) => findBlock(view, top.block).id === top.block)).toBe(true);
      expect(lookUp('seqno', id.seqno)).toBe(id);
      if (id.seqno === chain.firstSeqno) continue;
      expect(lookUp('lt', block.header.endLt)).toBe(id);
      expect(lookUp('utime', block.header.utime)).toBe(id);
    }
  });

  it('refuses those before as a node does that is no archive', () => {
    const gone = ids.filter(({ seqno }) => seqno < chain.firstSeqno && seqno !== keySeqno);
    expect(gone.length).toBeGreaterThan(100);
    for (const id of gone) {
      expect(() => findBlock(view, id)).toThrow('block handle not in db');
      expect(() => lookUp('seqno', id.seqno)).toThrow('ltdb: block not found');
    }
    expect(() => lookUp('lt', 1_500_000n)).toThrow('ltdb: block not found');
    expect(() => lookUp('utime', 1_790_000_030)).toThrow('ltdb: block not found');
  });

  it('keeps key blocks, from which all others are proved', async () => {
    expect(keySeqno).toBeGreaterThan(20);
    expect(keySeqno).toBeLessThan(chain.firstSeqno);
    expect(lookUp('seqno', keySeqno)).toEqual(ids.find(({ seqno }) => seqno === keySeqno));
    // From the zerostate over the key block to the head, with every signature checked.
    const { status, body } = await api.get('getMasterchainInfo');
    expect([status, body['result']]).toMatchObject([200, { last: { seqno: chain.lastSeqno } }]);
    const header = await api.get(`getBlockHeader?workchain=-1&shard=8000000000000000&seqno=${keySeqno}`);
    expect(header).toMatchObject({ status: 200, body: { result: { is_key_block: true } } });
  });

  it('is read over HTTP: what is gone is not ready, and the rest is there', async () => {
    const place = 'workchain=-1&shard=8000000000000000';
    const old = await api.get(`getBlockHeader?${place}&seqno=5`);
    expect(old).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining('LITE_SERVER_NOTREADY') as string },
    });
    expect((await api.get(`getBlockHeader?${place}&seqno=${chain.firstSeqno}`)).status).toBe(200);
    const faucet = `0:${network.faucet.id.toString('hex')}`;
    expect((await api.get(`getTransactions?address=${faucet}&limit=1`)).status).toBe(200);
  });

  it('lets contracts see the ids of blocks that are gone, and goes on', async () => {
    expect(chain.masterchainId(chain.firstSeqno - 100).seqno).toBe(chain.firstSeqno - 100);
    await network.step();
    await expect(dev.dev_revert({ snapshot })).rejects.toThrow(
      'snapshot: expected a snapshot whose states are still in memory',
    );
  });
});
