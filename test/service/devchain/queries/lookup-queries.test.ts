import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { ChainBlock } from '#service/devchain/chain/chain.ts';
import { answerLookup, answerLookupWithProof } from '#service/devchain/queries/lookup-queries.ts';
import type { ChainView } from '#service/devchain/chain/chain-view.ts';
import { chain } from '../network.ts';

const seed = 20_261_121;

function place(workchain: number, seqno = 0): { workchain: number; shard: bigint; seqno: number } {
  return { workchain, shard: FULL_SHARD, seqno };
}

describe('lookupBlock', () => {
  const view: ChainView = { chain, tip: chain.lastSeqno, nowSeconds: 0 };

  it('by an lt finds the first block that ends at it or later', () => {
    const last = chain.masterchain(chain.lastSeqno)!.header.endLt;
    const property = fc.property(
      fc.constantFrom(MASTERCHAIN, 0),
      fc.bigInt({ min: 1n, max: last - 10_000_000n }),
      (workchain, lt) => {
        const found = chain.find(answerLookup(view, { mode: 2, id: place(workchain), lt }).id)!;
        const before = chain.find(found.previous[0]!);
        return found.header.endLt >= lt && (before === undefined || before.header.endLt < lt);
      },
    );
    expect(() => fc.assert(property, { seed, numRuns: 200 })).not.toThrow();
  });

  it('by a time finds the first block of that second or later', () => {
    const [first, last] = [chain.masterchain(1)!, chain.masterchain(chain.lastSeqno)!].map(
      ({ header }) => header.utime,
    );
    const property = fc.property(fc.integer({ min: first! + 1, max: last! }), (utime) => {
      const found = chain.find(answerLookup(view, { mode: 4, id: place(MASTERCHAIN), utime }).id)!;
      const before = chain.find(found.previous[0]!)!;
      return found.header.utime >= utime && before.header.utime < utime;
    });
    expect(() => fc.assert(property, { seed, numRuns: 200 })).not.toThrow();
  });

  it('follows an account over splits and merges', () => {
    const prefixes = [1n, FULL_SHARD | 1n];
    for (const prefix of prefixes) {
      const way = chain.along(0, prefix);
      const seqnos = way.map((block: ChainBlock) => block.id.seqno);
      expect(seqnos).toEqual(Array.from({ length: seqnos.length }, (_, at) => at + 1));
    }
  });

  it('with a proof shows the block before, too', () => {
    const client = chain.masterchain(chain.lastSeqno)!;
    const middle = chain.masterchain(Math.ceil(chain.lastSeqno / 2))!;
    const args = { mode: 2, id: place(MASTERCHAIN), mcBlockId: client.id, lt: middle.header.startLt + 1n };
    const answer = answerLookupWithProof(view, args);
    expect(answer.id).toEqual(middle.id);
    const boc = parseBoc(answer.prevHeader);
    const block = readBlock(boc, merkleProofRoot(boc, boc.roots[0]!));
    expect(readBlockInfo(boc, block.info).seqno).toBe(middle.id.seqno - 1);
  });

  it.each<[string, object, string]>([
    [
      'of a future block',
      { mode: 1, id: place(MASTERCHAIN, 1_000_000) },
      'ltdb: block not found (last known masterchain block: ',
    ],
    ['of a future shard block', { mode: 1, id: place(0, 1_000_000) }, 'ltdb: block not found (possibly out of sync: '],
    ['of the zerostate', { mode: 1, id: place(MASTERCHAIN, 0) }, 'not in db'],
    ['of a time before the chain', { mode: 4, id: place(MASTERCHAIN), utime: 5 }, 'ts not in db'],
    [
      'of an lt in no workchain',
      { mode: 2, id: place(7), lt: 5n },
      'cannot find block (7,8000000000000000) lt=5: lt not in db',
    ],
    [
      'of two things at once',
      { mode: 3, id: place(MASTERCHAIN, 1), lt: 1n },
      'exactly one of mode.0, mode.1 and mode.2',
    ],
  ])('refuses the search %s', (_, args, text) => {
    const search = (): unknown => answerLookup(view, args as Parameters<typeof answerLookup>[1]);
    expect(search).toThrow(text);
  });

  it('with a proof refuses a client that knows no block so new', () => {
    const args = { mode: 1, id: place(MASTERCHAIN, 9), mcBlockId: chain.masterchain(8)!.id };
    const search = (): unknown => answerLookupWithProof(view, args);
    expect(search).toThrow("specified mc block is older than block's masterchain ref");
  });
});
