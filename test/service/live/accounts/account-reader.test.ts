import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { editAccount } from '#service/devchain/chain/edit-builders.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import { createAccountReader, type AccountReader } from '#service/live/accounts/account-reader.ts';
import type { PinnedBlock } from '#service/live/pinned-block.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import type { Trust } from '#service/pool/options.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { PoolContext, PoolQueryOptions } from '#service/pool/reads.ts';
import { within } from '#test/service/pool/network.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { turnsDuring } from '#test/support/turns.ts';

/** Leaves of a tree of 65,536 cells: an account may have no more. */
const LEAVES = 49_152;

const account = { workchain: 0, id: Buffer.alloc(32, 0x77) };
const data = parseBoc(bagWithLeaves(LEAVES));

let network: PrivateNetwork;
let pinned: PinnedBlock;

beforeAll(async () => {
  network = await startPrivateNetwork();
  await network.step([editAccount(account, (states) => ({ balance: 1n, data: states.import(data, data.roots[0]!) }))]);
  const { id, header } = network.head();
  pinned = { block: id, utime: header.utime, endLt: header.endLt, keyBlockSeqno: 0 };
});
afterAll(() => network.close());

/** A reader over answers without a wait. All turns of the event loop during a read are turns that its work leaves. */
function readerOf(trust: Trust): AccountReader {
  const view = { chain: network.chain, tip: pinned.block.seqno, nowSeconds: pinned.utime };
  const query = async <A, R, T>(
    fn: LiteServerFunction<A, R>,
    args: A,
    context: PoolContext,
    { check }: PoolQueryOptions<R, T> = {},
  ) => {
    const answer = fn.decode(answerQuery(view, fn.encode(args), {} as never));
    return { value: (await check!(answer, { ...context, liteServer: 0 })) as never, liteServers: [0], cached: false };
  };
  return createAccountReader({ trust }, { pool: { query } as unknown as Pool });
}

describe.each<Trust>(['verified', 'none'])('a read of the largest account, with trust %s', (trust) => {
  it('leaves turns of the event loop to other requests, in each of its forms', async () => {
    const reader = readerOf(trust);
    const expected = writeBoc(data, data.roots, { crc32c: true });
    let cells = 0;
    const opened = await turnsDuring(async () => {
      const { value } = await reader.readShardAccount(account, pinned, within(600_000));
      cells = value.table.size;
    });
    const viewed = await turnsDuring(async () => {
      const { value } = await reader.readView(account, pinned, within(600_000));
      expect(value.data!.equals(expected)).toBe(true);
    });
    const written = await turnsDuring(async () => {
      const { value } = await reader.readCell(account, pinned, within(600_000));
      expect(parseBoc(value.account!).size).toBe(cells);
    });
    expect(cells).toBeGreaterThan(65_536);
    for (const turns of [opened, viewed, written]) expect(turns).toBeGreaterThan(8);
  });

  it('ends when its caller leaves', async () => {
    const left = AbortSignal.abort(new Error('the caller left'));
    const reading = readerOf(trust).readShardAccount(account, pinned, within(600_000, left));
    await expect(reading).rejects.toThrow('the caller left');
  });
});

describe('a shard account for the virtual machine', () => {
  it('is a bag with the account and its last transaction, as of the block', async () => {
    const reader = readerOf('verified');
    const { value } = await reader.readShardAccount(account, pinned, within(600_000));
    const bag = parseBoc(value.boc);
    const [root] = bag.roots as [number];
    expect([bag.size, bag.bitLength(root), bag.refCount(root)]).toEqual([value.table.size + 1, 320, 1]);
    expect(bag.hash(bag.ref(root, 0))).toEqual(value.table.hash(value.account));
    const start = bag.dataOffset(root);
    expect(bag.bytes.subarray(start, start + 32)).toEqual(value.lastTransaction.hash);
    expect(bag.bytes.readBigUInt64BE(start + 32)).toBe(value.lastTransaction.lt);
  });
});
