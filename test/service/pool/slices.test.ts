import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { functionNamed } from '#service/liteserver/function-table.ts';
import { hasNewest, coversPositions } from '#service/pool/slices.ts';
import type { Slice } from '#service/pool/slices.ts';

const left = 0x4000000000000000n;
const right = 0xc000000000000000n;
const masterchain = { workchain: MASTERCHAIN, shard: FULL_SHARD };
const accountOf = (first: number, workchain = 0) => ({ workchain, id: Buffer.alloc(32, first) });

const at = (place: { workchain: number; shard: bigint }, seqno: number) => ({
  ...place,
  seqno,
  utime: seqno * 3,
  lt: BigInt(seqno) * 1_000n,
});
/** Slice with the left half of the base chain, of the masterchain blocks 100 to 200. */
const past: Slice = {
  from: [at(masterchain, 100), at({ workchain: 0, shard: left }, 50)],
  to: [at(masterchain, 200), at({ workchain: 0, shard: left }, 90)],
};
/** Slice with all of the right half. */
const half: Slice = { from: [at(masterchain, 0), at({ workchain: 0, shard: right }, 0)], to: [] };
const has = (slices: readonly Slice[] | null, name: string, args: unknown, seqno?: number): boolean =>
  coversPositions(slices, functionNamed(name)!.positions(args), seqno);
const block = (shard: bigint, seqno: number, workchain = 0) => ({ id: { workchain, shard, seqno } });
const account = (first: number, seqno: number) => ({ id: { ...masterchain, seqno }, account: accountOf(first) });

describe('a lite server with slices', () => {
  test.each<[string, boolean, Slice[], string, unknown]>([
    ['a block of its shard', true, [past], 'getBlock', block(left, 50)],
    ['its last block', true, [past], 'getBlock', block(left, 90)],
    ['a block of a shard below its own', true, [past], 'getBlock', block(0x2000000000000000n, 60)],
    ['a block of a shard above its own', true, [past], 'getBlock', block(FULL_SHARD, 60)],
    ['no block before its first', false, [past], 'getBlock', block(left, 49)],
    ['no block after its last', false, [past], 'getBlock', block(left, 91)],
    ['no block of another shard', false, [past], 'getBlock', block(right, 60)],
    ['no block of another workchain', false, [past], 'getBlock', block(left, 60, 1)],
    ['masterchain blocks of its range', true, [past], 'getBlock', block(FULL_SHARD, 150, MASTERCHAIN)],
    ['no masterchain block after it', false, [past], 'getBlock', block(FULL_SHARD, 201, MASTERCHAIN)],
    [
      'an account of its shard at a masterchain block of its range',
      true,
      [past],
      'getAccountState',
      account(0x12, 150),
    ],
    ['no account of another shard', false, [past], 'getAccountState', account(0x90, 150)],
    ['no account at a newer masterchain block', false, [past], 'getAccountState', account(0x12, 201)],
    ['transactions by their lt', true, [past], 'getTransactions', { account: accountOf(0x12), lt: 60_000n }],
    ['no later ones', false, [past], 'getTransactions', { account: accountOf(0x12), lt: 90_001n }],
    ['a block by its time', true, [past], 'lookupBlock', { ...block(left, 0), mode: 4, utime: 200 }],
    ['no block of another time', false, [past], 'lookupBlock', { ...block(left, 0), mode: 4, utime: 149 }],
    ['nothing newest where its slices end', false, [past], 'getMasterchainInfo', {}],
    ['the newest where they do not', true, [half], 'getMasterchainInfo', {}],
    ['what one of several slices has', true, [past, half], 'getAccountState', account(0x90, 900)],
    ['not what two slices have between them', false, [past, half], 'getAccountState', account(0x12, 900)],
  ])('a lite server with slices has %s: %s', (_what, expected, slices, name, args) => {
    expect(has(slices, name, args)).toBe(expected);
  });

  test('a lite server with slices has data proved against a block only when it has the block too', () => {
    expect(has([past], 'lookupBlockWithProof', { ...block(left, 60), mode: 1 }, 200)).toBe(true);
    expect(has([past], 'lookupBlockWithProof', { ...block(left, 60), mode: 1 }, 201)).toBe(false);
  });

  test('a lite server follows the head when its slices have no end, and without slices it has all', () => {
    expect([hasNewest(null), hasNewest([half]), hasNewest([past]), hasNewest([past, half])]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(has(null, 'getBlock', block(right, 1))).toBe(true);
  });
});
