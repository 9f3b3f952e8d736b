import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  findBlocks,
  findMasterchainEnd,
  findMasterchainEnds,
  findShardTops,
  hasMasterchainBlock,
  type BlockFilter,
} from '#service/store/queries/blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { SortedPage } from '#service/store/queries/transactions.ts';
import type { BlockRow, BlockRows } from '#service/store/tables.ts';
import { createRecordedIndex, recordedRows } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let rows: readonly BlockRows[] = [];
let all: readonly BlockRow[] = [];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  rows = await recordedRows();
  all = rows.flatMap(({ blocks }) => blocks);
});
afterAll(() => index.close());

const nameOf = ({ workchain, shard, seqno }: Pick<BlockRow, 'workchain' | 'shard' | 'seqno'>): string =>
  `${workchain}:${shard}:${seqno}`;

const same = (a: Uint8Array, b: Uint8Array | undefined): boolean => b === undefined || Buffer.compare(a, b) === 0;

function expected(filter: BlockFilter, { limit, offset, sort }: SortedPage): string[] {
  const turn = sort === 'asc' ? 1 : -1;
  return all
    .filter(
      (row) =>
        (filter.workchain ?? row.workchain) === row.workchain &&
        (filter.shard === undefined || BigInt.asIntN(64, filter.shard) === row.shard) &&
        (filter.seqno ?? row.seqno) === row.seqno &&
        (filter.mcSeqno ?? row.mc_seqno) === row.mc_seqno &&
        same(row.root_hash, filter.rootHash) &&
        same(row.file_hash, filter.fileHash) &&
        (filter.startUtime ?? 0) <= row.gen_utime &&
        (filter.endUtime ?? Infinity) >= row.gen_utime &&
        (filter.startLt ?? 0n) <= row.start_lt &&
        (filter.endLt ?? row.start_lt) >= row.start_lt,
    )
    .toSorted(
      (a, b) =>
        turn * (a.gen_utime - b.gen_utime) ||
        a.workchain - b.workchain ||
        Number(a.shard - b.shard) ||
        a.seqno - b.seqno,
    )
    .slice(offset, offset + limit)
    .map(nameOf);
}

const filterNames = [
  'workchain',
  'shard',
  'seqno',
  'rootHash',
  'fileHash',
  'mcSeqno',
  'startUtime',
  'endUtime',
  'startLt',
  'endLt',
] as const;

function filterOf(row: BlockRow, wide: number): Required<BlockFilter> {
  return {
    workchain: row.workchain,
    shard: BigInt.asUintN(64, row.shard),
    seqno: row.seqno,
    rootHash: row.root_hash,
    fileHash: row.file_hash,
    mcSeqno: row.mc_seqno,
    startUtime: row.gen_utime - wide,
    endUtime: row.gen_utime + wide,
    startLt: row.start_lt - BigInt(wide * 1_000_000),
    endLt: row.start_lt + BigInt(wide * 1_000_000),
  };
}

describe('blocks', () => {
  it('are what any mixture of filters, read one by one, lets through, by time and then by id', async () => {
    let some = 0;
    const row = fc.nat().map((at) => all[at % all.length]!);
    const filter = fc
      .tuple(row, fc.option(row, { freq: 4 }), fc.subarray([...filterNames]), fc.integer({ min: 0, max: 20 }))
      .map(([one, other, names, wide]): BlockFilter => {
        const [first, second] = [filterOf(one, wide), filterOf(other ?? one, wide)];
        return Object.fromEntries(names.map((name, at) => [name, (at % 2 === 0 ? first : second)[name]]));
      });
    const page = fc.record({
      limit: fc.constantFrom(1, 3, 100),
      offset: fc.constantFrom(0, 0, 2, 500),
      sort: fc.constantFrom('asc' as const, 'desc' as const),
    });
    await fc.assert(
      fc.asyncProperty(filter, page, async (given, shown) => {
        const wanted = expected(given, shown);
        some += Math.min(1, wanted.length);
        expect((await findBlocks(reader, given, shown)).map(nameOf)).toEqual(wanted);
      }),
      { seed: 9, numRuns: 400 },
    );
    expect(some).toBeGreaterThan(100);
  });

  it('beyond every number of 32 bits are none', async () => {
    const page = { limit: 10, offset: 0, sort: 'asc' as const };
    expect(await findBlocks(reader, { startUtime: 2 ** 50 }, page)).toEqual([]);
    expect((await findBlocks(reader, { endUtime: 2 ** 50 }, page)).length).toBe(10);
  });

  it('that are the tops of all shards are known for every masterchain block, itself first', async () => {
    for (const { mcSeqno, shardTops } of rows.filter((_row, at) => at % 50 === 0)) {
      const known = new Set(all.map(nameOf));
      const wanted = shardTops.map(nameOf).filter((name) => known.has(name));
      const found = await findShardTops(reader, mcSeqno);
      expect(found.map(nameOf).toSorted()).toEqual(wanted.toSorted());
      expect([found[0]!.workchain, found[0]!.seqno]).toEqual([-1, mcSeqno]);
    }
  });

  it('of the masterchain have a first and a last one', async () => {
    const ends = [await findMasterchainEnd(reader, 'first'), await findMasterchainEnd(reader, 'last')];
    expect(ends.map((row) => row!.seqno)).toEqual([rows[0]!.mcSeqno, rows.at(-1)!.mcSeqno]);
    expect(await findMasterchainEnds(reader)).toEqual({ first: ends[0], last: ends[1] });
    expect(await hasMasterchainBlock(reader, rows.at(-1)!.mcSeqno)).toBe(true);
    expect(await hasMasterchainBlock(reader, rows.at(-1)!.mcSeqno + 1)).toBe(false);
  });
});
