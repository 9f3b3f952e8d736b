import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import type { Boc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { crc32c } from '#service/decode/crc32c.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { applyMerkleUpdate, merkleProofRoot } from '#service/decode/merkle.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { threadCpuMs } from '#test/support/thread-cpu.ts';
import { countOf } from '#test/support/volume.ts';
import { createRandom } from './random.ts';
import { answerBags, tapeBlocks } from './recorded.ts';

/** Makes two changed bits, or up to eight changes: bits, bytes, runs, cuts, insertions. Headers are hit more often than by their size. */
function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  let out = Buffer.from(bytes);
  const gentle = random(2) === 0;
  if (gentle) {
    // A bit or two of the cells change: the bag is mostly whole, its values are not.
    for (let left = 1 + random(2); left > 0; left--) out[20 + random(out.length - 20)]! ^= 1 << random(8);
  }
  for (let left = gentle ? 0 : 1 + random(8); left > 0; left--) {
    const at = random(3) === 0 ? random(Math.min(24, out.length)) : random(out.length);
    switch (random(6)) {
      case 0:
        out[at]! ^= 1 << random(8);
        break;
      case 1:
        out[at] = random(256);
        break;
      case 2:
        out.fill(random(2) * 255, at, Math.min(out.length, at + 1 + random(8)));
        break;
      case 3:
        out.copyWithin(at, random(out.length), out.length);
        break;
      case 4:
        if (out.length > 16) out = out.subarray(0, out.length - 1 - random(8));
        break;
      default:
        out[at] = (out[at]! + (random(2) === 0 ? 1 : 255)) & 255;
    }
  }
  // Half of them have a CRC that fits, so that the code after the check is reached.
  if (random(2) === 0 && out.length > 4) out.writeUInt32LE(crc32c(out, 0, out.length - 4), out.length - 4);
  return out;
}

/** Every reader of cells, run on every root. Each may fail, but only with a DecodeError. */
const readers: ((boc: Boc, cell: number) => unknown)[] = [
  (boc, cell) => boc.hash(cell),
  (boc, cell) => readBlockInfo(boc, readBlock(boc, cell).info),
  (boc, cell) => readBlockTransactions(boc, cell),
  (boc, cell) => readTransaction(boc, cell),
  (boc, cell) => readMessage(boc, cell),
  (boc, cell) => readShardState(boc, merkleProofRoot(boc, cell)),
  (boc, cell) => readAccount(boc, cell),
  (boc, cell) => applyMerkleUpdate(createCellStore(), boc, readBlock(boc, cell).stateUpdate),
  (boc, cell) => createCellStore().import(boc, cell),
  (boc, cell) => parseBoc(writeBoc(boc, [cell], { index: true, crc32c: true }), { rootLevelMax: 3 }),
];

/** Returns true when the work succeeds; any error but a DecodeError fails the test. */
function attempt(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

const MUTANTS = countOf({ quick: 30_000, full: 100_000 });
/** Most milliseconds of CPU for a mutant of some kilobytes. */
const ONE_MUTANT_MS_MAX = 1000;

const seeds = [...answerBags(), ...tapeBlocks()]
  .map(({ bytes }) => bytes)
  .filter((bytes) => bytes.length < 6000)
  .filter((_, at) => at % 7 === 0);

describe.skipIf(skipLoudly(seeds.length === 0, { what: 'mutated bags', why: 'no fixtures' }))('bad input', () => {
  it(`${MUTANTS} mutated bags are read or refused with a typed error, each in bounded time`, () => {
    const random = createRandom(20_261_121);
    let parsed = 0;
    let slowestMs = 0;
    for (let mutant = 0; mutant < MUTANTS; mutant++) {
      const bytes = mutate(seeds[random(seeds.length)]!, random);
      const startedMs = threadCpuMs();
      let boc: Boc | undefined;
      attempt(() => (boc = parseBoc(bytes, { rootLevelMax: 3 })));
      if (boc !== undefined) {
        parsed++;
        const table = boc;
        const read = readers[mutant % readers.length]!;
        for (const root of table.roots.slice(0, 4)) attempt(() => read(table, root));
      }
      slowestMs = Math.max(slowestMs, threadCpuMs() - startedMs);
    }
    // Both outcomes occur: a fuzz test that never passes the header tests nothing.
    expect(parsed).toBeGreaterThan(MUTANTS / 10);
    expect(parsed).toBeLessThan(MUTANTS);
    expect(slowestMs).toBeLessThan(ONE_MUTANT_MS_MAX);
  });
});
