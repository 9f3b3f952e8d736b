import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readMasterchainStateDetails, readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { readSessionValidators } from '#service/proof/session-validators.ts';
import type { Validator } from '#service/decode/validator-session.ts';
import { masterchainValidators, validatorSetHash } from '#service/decode/validator-session.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';

const configProofs = fixtureFiles(/config-proof-.*\.boc$/);

describe('The validators of a session', () => {
  const missing = skipLoudly(configProofs.length === 0, {
    what: 'validators of the main network',
    why: 'no config proofs',
  });

  it.skipIf(missing).each(configProofs)('the validators of a session are those of the main network: %s', (file) => {
    const boc = parseBoc(readFileSync(file));
    const state = readShardState(boc, merkleProofRoot(boc, boc.roots[0]!));
    const { config, details } = readMasterchainStateExtra(boc, state.custom!);
    const { catchainSeqno, validatorListHashShort } = readMasterchainStateDetails(boc, details);
    const validators = readSessionValidators({ table: boc, config }, catchainSeqno);
    expect(validators.length).toBeGreaterThan(1);
    // The state has the hash of the shuffled list without its seqno. A block header has the hash with it.
    expect(validatorSetHash(0, validators)).toBe(validatorListHashShort);
    expect(validatorSetHash(0, readSessionValidators({ table: boc, config }, catchainSeqno + 1))).not.toBe(
      validatorListHashShort,
    );
  });

  const validators: Validator[] = Array.from({ length: 40 }, (_, index) => ({
    publicKey: createHash('sha256').update(`${index}`).digest(),
    weight: BigInt(index + 1),
    adnlAddress: undefined,
  }));

  it('the validators of a session are the first of the list, in its order, without a shuffle', () => {
    expect(masterchainValidators(validators, 7, false, 5)).toEqual(validators.slice(0, 7));
  });

  it('the validators of a session are the same in another order with a shuffle, for every seqno', () => {
    const property = fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.integer({ min: 1, max: 40 }),
      (seqno, main) => {
        const chosen = masterchainValidators(validators, main, true, seqno);
        expect(new Set(chosen)).toEqual(new Set(validators.slice(0, main)));
        expect(chosen).toHaveLength(main);
      },
    );
    fc.assert(property, { seed: 11, numRuns: 200 });
  });

  it('the hash of the validators depends on seqno, order, weight and address', () => {
    const [first, second] = validators as [Validator, Validator];
    const hashes = [
      validatorSetHash(1, [first, second]),
      validatorSetHash(2, [first, second]),
      validatorSetHash(1, [second, first]),
      validatorSetHash(1, [{ ...first, weight: 9n }, second]),
      validatorSetHash(1, [{ ...first, adnlAddress: Buffer.alloc(32, 1) }, second]),
      validatorSetHash(1, [first]),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
