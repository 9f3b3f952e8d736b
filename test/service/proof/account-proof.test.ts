import { describe, expect, it } from 'vitest';

import { getAccountState } from '#service/liteserver/functions.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { recordings } from './recorded.ts';

const NOTHING = Buffer.alloc(0);

describe.each(recordings())('An account in a workchain that the network does not have: $folder', ({ exchanges }) => {
  const { args, answer } = exchanges(getAccountState).find(
    (one) => one.args.id.workchain === -1 && one.args.account.workchain === 0 && one.answer.state.length > 0,
  )!;
  const hash = Buffer.alloc(32);
  const noBlock = { workchain: -(2 ** 31), shard: 0n, seqno: 0, rootHash: hash, fileHash: hash };
  const absent = { ...answer, shardBlock: noBlock, proof: NOTHING, state: NOTHING };
  const expected = { block: args.id, workchain: 5, account: args.account.id };

  it('the account is proved absent, and has no shard', () => {
    expect(checkAccountState(expected, absent)).toEqual({ shard: undefined, account: undefined });
  });

  it.each([
    ['a state', { ...absent, state: answer.state }],
    ['a proof of a shard', { ...absent, proof: answer.proof }],
    ['a shard block', { ...absent, shardBlock: answer.shardBlock }],
  ])('an answer with %s is refused', (_what, lie) => {
    expect(() => checkAccountState(expected, lie)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'not_contained' }),
    );
  });
});
