import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { functionNamed } from '#service/liteserver/function-table.ts';

const left = 0x4000000000000000n;
const masterchain = { workchain: MASTERCHAIN, shard: FULL_SHARD };
const accountOf = (first: number, workchain = 0) => ({ workchain, id: Buffer.alloc(32, first) });

describe('positions of a query', () => {
  test.each<[string, unknown, unknown]>([
    ['getMasterchainInfo', {}, [{ ...masterchain, by: 'newest' }]],
    ['sendMessage', { body: Buffer.alloc(1) }, [{ ...masterchain, by: 'newest' }]],
    [
      'getBlock',
      { id: { workchain: 0, shard: left, seqno: 9 } },
      [{ workchain: 0, shard: left, by: 'seqno', value: 9 }],
    ],
    ['getBlock', { id: { ...masterchain, seqno: 9 } }, [{ ...masterchain, by: 'seqno', value: 9 }]],
    [
      'getAccountState',
      { id: { ...masterchain, seqno: 9 }, account: accountOf(0x12) },
      [{ workchain: 0, shard: 0x1212121212121213n, by: 'masterchainSeqno', value: 9 }],
    ],
    [
      'getAccountState',
      { id: { ...masterchain, seqno: 0xffffffff }, account: accountOf(0x12) },
      [{ workchain: 0, shard: 0x1212121212121213n, by: 'newest' }],
    ],
    [
      'runSmcMethod',
      { id: { workchain: 0, shard: left, seqno: 9 }, account: accountOf(0x12) },
      [{ workchain: 0, shard: 0x1212121212121213n, by: 'seqno', value: 9 }],
    ],
    [
      'getTransactions',
      { account: accountOf(0x90), lt: 77n },
      [{ workchain: 0, shard: 0x9090909090909091n, by: 'lt', value: 77n }],
    ],
    [
      'lookupBlock',
      { mode: 1, id: { workchain: 0, shard: left, seqno: 9 } },
      [{ workchain: 0, shard: left, by: 'seqno', value: 9 }],
    ],
    [
      'lookupBlock',
      { mode: 2, id: { workchain: 0, shard: left, seqno: 0 }, lt: 5n },
      [{ workchain: 0, shard: left, by: 'lt', value: 5n }],
    ],
    [
      'lookupBlockWithProof',
      { mode: 4, id: { workchain: 0, shard: left, seqno: 0 }, utime: 6 },
      [{ workchain: 0, shard: left, by: 'utime', value: 6 }],
    ],
    [
      'getBlockProof',
      { mode: 1, knownBlock: { ...masterchain, seqno: 3 }, targetBlock: { ...masterchain, seqno: 8 } },
      [
        { ...masterchain, by: 'seqno', value: 3 },
        { ...masterchain, by: 'seqno', value: 8 },
      ],
    ],
  ])('the positions of %s with %o are found', (name, args, places) => {
    expect(functionNamed(name)!.positions(args)).toEqual(places);
  });
});

describe('old data of a query', () => {
  const named = { ...masterchain, seqno: 7 };
  const shard = { workchain: 0, shard: FULL_SHARD, seqno: 9 };

  test.each<[string, unknown, unknown]>([
    ['getBlockHeader', { id: named }, { kind: 'masterchainBlock', chain: 'masterchain', seqno: 7 }],
    ['getBlock', { id: shard }, { kind: 'shardBlock', chain: 'shard', seqno: 9 }],
    ['getConfigAll', { id: named }, { kind: 'masterchainState', chain: 'masterchain', seqno: 7 }],
    [
      'getAccountState',
      { id: named, account: { workchain: 0 } },
      { kind: 'shardState', chain: 'masterchain', seqno: 7 },
    ],
    ['getAccountState', { id: shard, account: { workchain: 0 } }, { kind: 'shardState', chain: 'shard', seqno: 9 }],
    ['lookupBlock', { id: shard, mode: 1 }, { kind: 'shardBlock', chain: 'shard', seqno: 9 }],
    ['lookupBlock', { id: shard, mode: 4 }, undefined],
    ['getTransactions', { account: { workchain: 0 } }, undefined],
  ])('the data needed by %s with %o are found', (name, args, need) => {
    expect(functionNamed(name)!.depth(args)).toEqual(need);
  });
});

describe('wait of a query', () => {
  const named = { ...masterchain, seqno: 7 };
  const shard = { workchain: 0, shard: FULL_SHARD, seqno: 9 };

  test.each<[string, unknown, number | undefined]>([
    ['getAccountState', { id: named }, 7],
    ['getAccountState', { id: shard }, undefined],
    ['getAccountState', { id: { ...masterchain, seqno: 0xffffffff } }, undefined],
    ['getConfigParams', { id: named }, 7],
    ['getAllShardsInfo', { id: named }, 7],
    ['lookupBlockWithProof', { id: shard, mode: 1, mcBlockId: { ...masterchain, seqno: 12 } }, 12],
    ['getBlockProof', { knownBlock: named, targetBlock: { ...masterchain, seqno: 3 } }, 7],
    ['getBlockProof', { knownBlock: named }, undefined],
    ['getTransactions', { account: accountOf(1), lt: 1n }, undefined],
    ['sendMessage', { body: Buffer.alloc(1) }, undefined],
  ])('%s with %o waits for the masterchain block %s', (name, args, seqno) => {
    expect(functionNamed(name)!.waitsFor(args)).toBe(seqno);
  });
});
