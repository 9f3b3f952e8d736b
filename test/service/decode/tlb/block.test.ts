import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { Boc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { masterBlock, previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { listExtraCurrencies, skipCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { readMasterchainBlockDetails, readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { findShard, listShards } from '#service/decode/tlb/shard-descr.ts';
import { readValueFlow } from '#service/decode/tlb/value-flow.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { readLines } from '../recorded.ts';

type Indexed = {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
  readonly mc_seqno: number;
  readonly boc: string;
};

const tape = readLines<Indexed>(/blocks\.jsonl(\.gz)?$/);

describe.skipIf(skipLoudly(tape.length === 0, { what: 'recorded tapes', why: 'no fixtures' }))(
  'recorded networks',
  () => {
    const known = new Map(tape.map((line) => [line.root_hash, line]));

    it('recorded headers match the tape, and name the blocks before and above them', () => {
      const wrong: string[] = [];
      let merges = 0;
      let splits = 0;
      for (const line of tape) {
        const boc = parseBoc(Buffer.from(line.boc, 'base64'));
        const info = readBlockInfo(boc, readBlock(boc, boc.roots[0]!).info);
        const previous = previousBlocks(boc, info);
        const master = masterBlock(boc, info);
        merges += info.afterMerge ? 1 : 0;
        splits += info.afterSplit ? 1 : 0;
        const isRight =
          info.workchain === line.workchain &&
          info.shard === BigInt(`0x${line.shard}`) &&
          info.seqno === line.seqno &&
          info.seqno === Math.max(...previous.map(({ seqno }) => seqno)) + 1 &&
          info.notMaster === (line.workchain !== MASTERCHAIN) &&
          previous.every((id) => id.seqno === 0 || isKnown(id.rootHash, id)) &&
          (master === undefined || master.seqno === 0 || isKnown(master.rootHash, master));
        if (!isRight) wrong.push(`${line.workchain} ${line.shard} ${line.seqno}`);
      }
      expect(wrong).toEqual([]);
      expect(merges).toBeGreaterThan(0);
      expect(splits).toBeGreaterThan(0);
    });

    function isKnown(
      rootHash: Buffer,
      id: { workchain: number; shard: bigint; seqno: number; fileHash: Buffer },
    ): boolean {
      const line = known.get(rootHash.toString('hex'));
      return (
        line !== undefined &&
        line.workchain === id.workchain &&
        BigInt(`0x${line.shard}`) === id.shard &&
        line.seqno === id.seqno &&
        line.file_hash === id.fileHash.toString('hex')
      );
    }

    it('recorded masterchain blocks have shards that are on the tape, each found by its own prefix', () => {
      let shards = 0;
      let keyBlocks = 0;
      for (const line of tape.filter(({ workchain }) => workchain === MASTERCHAIN)) {
        const boc = parseBoc(Buffer.from(line.boc, 'base64'));
        const extra = readMasterchainBlockExtra(boc, readBlockExtra(boc, readBlock(boc, boc.roots[0]!).extra).custom!);
        keyBlocks += extra.keyBlock ? 1 : 0;
        expect(extra.config !== undefined).toBe(extra.keyBlock);
        readMasterchainBlockDetails(boc, extra.details);
        for (const shard of listShards(boc, extra.shardHashes)) {
          shards++;
          const { block } = shard;
          expect(block.seqno === 0 || isKnown(block.rootHash, block)).toBe(true);
          expect(findShard(boc, extra.shardHashes, block.workchain, block.shard)).toEqual(shard);
        }
        expect(findShard(boc, extra.shardHashes, 77, 1n << 63n)).toBeUndefined();
      }
      expect(shards).toBeGreaterThan(0);
      expect(keyBlocks).toBeGreaterThan(0);
    });
  },
);

type Money = { readonly Grams: string; readonly Other: Record<string, string> } | null;
type Expected = {
  readonly ValueFlow: Record<string, Money>;
  readonly InMsgDescrLength: number;
  readonly OutMsgDescrLength: number;
};

const expectedFiles = fixtureFiles(/\.expected\.json$/).filter((file) => existsSync(blockOf(file)));

function blockOf(expectedFile: string): string {
  return expectedFile.replace(/\.expected\.json$/, '.boc');
}

function money(boc: Boc, value: CurrencyCollection | undefined): Money {
  if (value === undefined) return null;
  const other = listExtraCurrencies(boc, value.extra).map(({ id, amount }) => [String(id >>> 0), amount.toString()]);
  return { Grams: value.grams.toString(), Other: Object.fromEntries(other) as Record<string, string> };
}

/** `import_fees$_ fees_collected:Grams value_imported:CurrencyCollection`. */
function importFees(slice: CellSlice): void {
  slice.coins();
  skipCurrencyCollection(slice);
}

/** Counts entries of `HashmapAugE 256 X Y` with the given augmentation. */
function countEntries(boc: Boc, cell: number, readExtra: (slice: CellSlice) => void): number {
  let count = 0;
  walkHashmap(boc, new CellSlice(boc, cell).maybeRef(), 256, () => void count++, { readExtra });
  return count;
}

describe.skipIf(skipLoudly(expectedFiles.length === 0, { what: 'blocks decoded in Go', why: 'no fixtures' }))(
  'blocks that another implementation decoded',
  () => {
    it.each(expectedFiles)('block %s has the same money and numbers of messages', (file) => {
      const expected = JSON.parse(readFileSync(file, 'utf8')) as Expected;
      const boc = parseBoc(readFileSync(blockOf(file)));
      const block = readBlock(boc, boc.roots[0]!);
      const flow = readValueFlow(boc, block.valueFlow);
      const parts = {
        FromPrevBlk: flow.fromPrevBlock,
        ToNextBlk: flow.toNextBlock,
        Imported: flow.imported,
        Exported: flow.exported,
        FeesCollected: flow.feesCollected,
        Burned: flow.burned,
        FeesImported: flow.feesImported,
        Recovered: flow.recovered,
        Created: flow.created,
        Minted: flow.minted,
      };
      expect(Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, money(boc, value)]))).toEqual(
        expected.ValueFlow,
      );
      const extra = readBlockExtra(boc, block.extra);
      expect(countEntries(boc, extra.inMsgDescr, importFees)).toBe(expected.InMsgDescrLength);
      expect(countEntries(boc, extra.outMsgDescr, skipCurrencyCollection)).toBe(expected.OutMsgDescrLength);
    });
  },
);
