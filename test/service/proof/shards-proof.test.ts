import { beginCell, Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { checkAllShards } from '#service/proof/shards-proof.ts';
import { createSyntheticChain, proofOf, withMasterchainPart } from './synthetic-chain.ts';

const NO_SHARDS = beginCell().storeBit(0).endCell().toBoc();
const SOME_SHARDS = beginCell().storeMaybeRef(Cell.EMPTY).endCell().toBoc();

/** Its blocks list no shards. */
const chain = createSyntheticChain({ weights: [1n] }, { first: 1, last: 1, keyEvery: 1 });

function check({ id, cell }: ReturnType<typeof chain.block>, data: Buffer): unknown {
  return checkAllShards({ block: id }, { id, proof: proofOf(cell), data });
}

describe('The list of shards of a block', () => {
  it('a masterchain block without shards has an empty list', () => {
    expect(check(chain.block(1), NO_SHARDS)).toEqual([]);
  });

  it('shards that the block does not list are refused', () => {
    expect(() => check(chain.block(1), SOME_SHARDS)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'hash_mismatch' }),
    );
  });

  it('a block without a masterchain part has no list, and the answer is refused', () => {
    expect(() => check(withMasterchainPart(chain.block(1), null), NO_SHARDS)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'malformed' }),
    );
  });
});
