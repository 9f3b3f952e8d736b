import { describe, expect, it } from 'vitest';

import type { SyntheticBlock } from './synthetic-chain.ts';
import { CONFIG_FROM_KEY_BLOCK, checkConfig } from '#service/proof/config-proof.ts';
import { createSyntheticChain, masterchainPart, proofOf, withMasterchainPart } from './synthetic-chain.ts';

const chain = createSyntheticChain({ weights: [1n] }, { first: 1, last: 3, keyEvery: 2 });
const newest = chain.block(3);

function check({ id, cell }: SyntheticBlock): unknown {
  const expected = { block: newest.id, mode: CONFIG_FROM_KEY_BLOCK };
  return checkConfig(expected, { ...expected, id, stateProof: Buffer.alloc(0), configProof: proofOf(cell) });
}

describe('The configuration in a key block', () => {
  it('the configuration of an earlier key block is accepted', () => {
    expect(check(chain.block(1))).toMatchObject({ block: { seqno: 1, rootHash: chain.block(1).id.rootHash } });
  });

  it.each([
    ['a block that is no key block', 'wrong_field', chain.block(2)],
    ['a key block without a masterchain part', 'malformed', withMasterchainPart(chain.block(1), null)],
    [
      'a key block whose masterchain part has no configuration',
      'wrong_field',
      withMasterchainPart(chain.block(1), masterchainPart(chain.block(2))),
    ],
    ['a key block above the requested block', 'wrong_id', { ...newest, id: { ...newest.id, seqno: 4 } }],
    ['a key block of a shard', 'wrong_id', { ...chain.block(1), id: { ...chain.block(1).id, workchain: 0 } }],
  ])('the configuration is refused from %s', (_what, code, block) => {
    expect(() => check(block)).toThrow(expect.objectContaining({ name: 'ProofError', code }));
  });
});
