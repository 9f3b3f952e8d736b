import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginCell } from '@ton/core';
import type { Builder, Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { blockText, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { applyMerkleUpdate } from '#service/decode/merkle.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readCatchainConfig } from '#service/decode/tlb/config-28.ts';
import { findConfigParam, listConfigParams } from '#service/decode/tlb/config-params.ts';
import { readMasterchainStateDetails, readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { findOldMasterchainBlock, walkOldMasterchainBlocks } from '#service/decode/tlb/old-masterchain-blocks.ts';
import { findShardAccount, walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import {
  addSplitState,
  readShardState,
  readShardStateDetails,
  readSplitState,
} from '#service/decode/tlb/shard-state.ts';
import { listsAddress, readSuspendedAddresses } from '#service/decode/tlb/suspended-addresses.ts';
import { readValidatorSet } from '#service/decode/tlb/validator-set.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { linesOf, recordedFiles } from '../recorded.ts';
import type { TapeLine } from '../recorded.ts';

type Chain = { readonly store: CellStore; readonly state: number; readonly blocks: readonly TapeLine[] };

/** Returns the masterchain of a recorded network at its last block. */
function lastMasterchainState(folder: string): Chain {
  const store = createCellStore();
  const zero = parseBoc(readFileSync(join(folder, 'zerostate-masterchain.boc')));
  let state = store.import(zero, zero.roots[0]!);
  const tape = ['blocks.jsonl', 'blocks.jsonl.gz'].map((name) => join(folder, name)).find(existsSync)!;
  const blocks = linesOf<TapeLine>(tape).filter(({ workchain }) => workchain === MASTERCHAIN);
  for (const { boc } of blocks) {
    const bag = parseBoc(Buffer.from(boc, 'base64'));
    state = applyMerkleUpdate(store, bag, readBlock(bag, bag.roots[0]!).stateUpdate, state);
  }
  return { store, state, blocks };
}

const recordings = recordingDirs();

describe.skipIf(skipLoudly(recordings.length === 0, { what: 'recorded networks', why: 'no fixtures' }))(
  'the last masterchain state of a recorded network',
  () => {
    const chains = recordings.map(lastMasterchainState);

    it.each(chains)('the last state agrees with its block', ({ store, state, blocks }) => {
      const ours = readShardState(store, state);
      const bag = parseBoc(Buffer.from(blocks.at(-1)!.boc, 'base64'));
      const block = readBlock(bag, bag.roots[0]!);
      const info = readBlockInfo(bag, block.info);
      expect(ours).toMatchObject({
        globalId: block.globalId,
        workchain: info.workchain,
        shard: info.shard,
        seqno: info.seqno,
        vertSeqno: info.vertSeqno,
        utime: info.utime,
        lt: info.endLt,
        minRefMasterchainSeqno: info.minRefMasterchainSeqno,
        beforeSplit: info.beforeSplit,
      });
    });

    it.each(chains)('the last state has the sum of its accounts, each found by its id', ({ store, state }) => {
      const { accounts, details } = readShardState(store, state);
      let sum = 0n;
      walkShardAccounts(store, accounts, (id, entry) => {
        const account = readAccount(store, entry.account)!;
        expect(account.address.id).toEqual(id);
        expect(findShardAccount(store, accounts, id)).toEqual(entry);
        sum += account.balance.grams;
      });
      const { totalBalance, masterRef } = readShardStateDetails(store, details);
      expect(sum).toBe(totalBalance.grams);
      expect(masterRef).toBeUndefined();
      expect(findShardAccount(store, accounts, Buffer.alloc(32, 0xee))).toBeUndefined();
    });

    it.each(chains)(
      'the last state lists every block before it, with key blocks marked',
      ({ store, state, blocks }) => {
        const extra = readMasterchainStateExtra(store, readShardState(store, state).custom!);
        const { prevBlocks, lastKeyBlock, blockCreateStats } = readMasterchainStateDetails(store, extra.details);
        const seen: string[] = [];
        let newestKeyBlock = 0;
        walkOldMasterchainBlocks(
          store,
          prevBlocks,
          (seqno, block) => {
            expect(block.seqno).toBe(seqno);
            seen.push(block.rootHash.toString('hex'));
            if (block.keyBlock) newestKeyBlock = seqno;
          },
          { from: Buffer.from([0, 0, 0, 1]) },
        );
        expect(seen).toEqual(blocks.slice(0, -1).map(({ root_hash }) => root_hash));
        expect(lastKeyBlock?.seqno).toBe(newestKeyBlock);
        expect(findOldMasterchainBlock(store, prevBlocks, newestKeyBlock)?.keyBlock).toBe(true);
        expect(findOldMasterchainBlock(store, prevBlocks, blocks.length + 5)).toBeUndefined();
        expect(blockCreateStats).toBeDefined();
        expect(listShards(store, extra.shardHashes).length).toBeGreaterThan(0);
      },
    );

    it.each(chains)('the last state has the validators that its last block names', ({ store, state, blocks }) => {
      const { config } = readMasterchainStateExtra(store, readShardState(store, state).custom!);
      const set = readValidatorSet(store, findConfigParam(store, config.root, 34)!);
      const bag = parseBoc(Buffer.from(blocks.at(-1)!.boc, 'base64'));
      const { utime } = readBlockInfo(bag, readBlock(bag, bag.roots[0]!).info);
      expect(set.utimeSince).toBeLessThanOrEqual(utime);
      expect(set.list).toHaveLength(set.total);
      expect(
        readCatchainConfig(store, findConfigParam(store, config.root, 28)!).masterchainLifetimeSeconds,
      ).toBeGreaterThan(0);
      expect(findConfigParam(store, config.root, 9999)).toBeUndefined();
    });
  },
);

const configs = recordedFiles().filter(({ name }) => /^config-(?!proof)/.test(name));

describe.skipIf(skipLoudly(configs.length === 0, { what: 'mainnet configurations', why: 'no fixtures' }))(
  'a recorded configuration',
  () => {
    it.each(configs)('the parameters of $name are listed and found', ({ bytes }) => {
      const boc = parseBoc(bytes);
      const [root] = boc.roots as [number];
      const params = listConfigParams(boc, root);
      for (const [number, cell] of params) expect(findConfigParam(boc, root, number)).toBe(cell);
      const validators = readValidatorSet(boc, params.get(34)!);
      expect(validators.list.length).toBe(validators.total);
      expect(validators.list.reduce((sum, { weight }) => sum + weight, 0n)).toBe(validators.totalWeight);
      readCatchainConfig(boc, params.get(28)!);
    });
  },
);

describe('states', () => {
  it('states of two shards are joined and split again', () => {
    const store = createCellStore();
    const left = store.add({ data: Buffer.from([1]), bitLength: 8, refs: [] });
    const right = store.add({ data: Buffer.from([2]), bitLength: 8, refs: [] });
    expect(readSplitState(store, addSplitState(store, left, right))).toEqual({ left, right });
    expect(blockText({ workchain: 0, shard: 1n << 63n, seqno: 5 })).toBe('(0,8000000000000000,5)');
  });
});

function single(cell: Cell) {
  const boc = parseBoc(cell.toBoc());
  return { boc, root: boc.roots[0]! };
}

/** Writes a validator of weight 9 after the builder's content. */
function validator(builder: Builder): Builder {
  return builder.storeUint(0x53, 8).storeUint(0x8e81278a, 32).storeBuffer(Buffer.alloc(32, 4)).storeUint(9, 64);
}

/** Writes the label of a dictionary's only entry: hml_long with all 16 bits of the key. */
function listOf(key: number): Builder {
  return beginCell().storeUint(0b10, 2).storeUint(16, 5).storeUint(key, 16);
}

function head(tag: number, total: number, main: number): Builder {
  return beginCell().storeUint(tag, 8).storeUint(1, 32).storeUint(2, 32).storeUint(total, 16).storeUint(main, 16);
}

/** Returns a set of the newer form with one validator. */
function extended(weight: number, total: number, main: number, key: number): Cell {
  const list = validator(listOf(key)).endCell();
  return head(0x12, total, main).storeUint(weight, 64).storeBit(true).storeRef(list).endCell();
}

describe('validator sets', () => {
  it.each([
    ['another total weight than the list has', extended(10, 1, 1, 0), 'bad_value'],
    ['another number than it lists', extended(9, 2, 1, 0), 'bad_value'],
    ['more main validators than validators', extended(9, 1, 2, 0), 'bad_value'],
    ['no main validator', extended(9, 1, 0, 0), 'bad_value'],
    ['a gap', extended(9, 1, 1, 1), 'bad_value'],
    ['another tag', beginCell().storeUint(0x13, 8).endCell(), 'bad_tag'],
  ])('a validator set with %s is refused', (_, cell, code) => {
    const { boc, root } = single(cell);
    expect(() => readValidatorSet(boc, root)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the catchain configuration', () => {
  it.each([
    ['older', beginCell().storeUint(0xc1, 8), false],
    ['newer without mixing', beginCell().storeUint(0xc2, 8).storeUint(0, 8), false],
    ['newer with mixing', beginCell().storeUint(0xc2, 8).storeUint(1, 8), true],
  ])('the catchain configuration of the %s form is read', (_, builder, shuffles) => {
    for (const value of [250, 251, 252, 7]) builder.storeUint(value, 32);
    const { boc, root } = single(builder.endCell());
    expect(readCatchainConfig(boc, root)).toEqual({
      shuffleMasterchainValidators: shuffles,
      masterchainLifetimeSeconds: 250,
      shardLifetimeSeconds: 251,
      shardValidatorsLifetimeSeconds: 252,
      shardValidators: 7,
    });
  });
});

describe('the list of suspended addresses', () => {
  it('the list of suspended addresses distinguishes workchain and id', () => {
    const id = Buffer.alloc(32, 0xc3);
    // A single entry: hml_long, 288 bits of key, and an empty value.
    const entry = beginCell().storeUint(0b10, 2).storeUint(288, 9).storeInt(-1, 32).storeBuffer(id).endCell();
    const { boc, root } = single(
      beginCell().storeUint(0, 8).storeBit(true).storeRef(entry).storeUint(99, 32).endCell(),
    );
    const list = readSuspendedAddresses(boc, root);
    expect(list.suspendedUntil).toBe(99);
    expect(listsAddress(boc, list, { workchain: -1, id })).toBe(true);
    expect(listsAddress(boc, list, { workchain: 0, id })).toBe(false);
    expect(listsAddress(boc, list, { workchain: -1, id: Buffer.alloc(32) })).toBe(false);
    expect(listsAddress(boc, { ...list, addresses: undefined }, { workchain: -1, id })).toBe(false);
  });
});
