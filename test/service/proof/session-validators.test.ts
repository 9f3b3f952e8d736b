import { beginCell, type Cell, Dictionary } from '@ton/core';
import { describe, expect, it } from 'vitest';

import type { ProvedConfig } from '#service/proof/config-proof.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readSessionValidators } from '#service/proof/session-validators.ts';
import { createSyntheticChain } from './synthetic-chain.ts';

const CURRENT = 34;
const CURRENT_TEMPORARY = 35;

/** Returns a configuration of parameter cells. */
function configOf(params: Dictionary<number, Cell>): ProvedConfig {
  const table = parseBoc(beginCell().storeDictDirect(params).endCell().toBoc());
  return { table, config: { root: table.roots[0]!, address: Buffer.alloc(32) } };
}

/** Returns the parameters of a chain whose validators have these weights. */
function paramsOf(weights: readonly bigint[]): Dictionary<number, Cell> {
  const { config } = createSyntheticChain({ weights }, { first: 1, last: 1, keyEvery: 1 });
  return Dictionary.loadDirect(Dictionary.Keys.Int(32), Dictionary.Values.Cell(), config);
}

const weightsOf = (params: Dictionary<number, Cell>): bigint[] =>
  readSessionValidators(configOf(params), 1).map(({ weight }) => weight);

describe("The masterchain's validators of a session", () => {
  it('parameter 34 has the validators, and parameter 35 replaces it', () => {
    const params = paramsOf([1n, 2n]);
    expect(weightsOf(params)).toEqual([1n, 2n]);
    params.set(CURRENT_TEMPORARY, paramsOf([5n, 6n, 7n]).get(CURRENT)!);
    expect(weightsOf(params)).toEqual([5n, 6n, 7n]);
  });

  it('a configuration without validators is refused', () => {
    const params = paramsOf([1n]);
    params.delete(CURRENT);
    expect(() => weightsOf(params)).toThrow(expect.objectContaining({ name: 'ProofError', code: 'bad_validator_set' }));
  });
});
