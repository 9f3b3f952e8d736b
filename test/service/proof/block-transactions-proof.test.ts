import { describe, expect, it } from 'vitest';

import { listBlockTransactions } from '#service/liteserver/functions.ts';
import { checkBlockTransactions } from '#service/proof/block-transactions-proof.ts';
import { recordings } from './recorded.ts';

const PROVED = 32;
const [ACCOUNT, LT, HASH] = [1, 2, 4];

describe.each(recordings())('The transactions of a block: $folder', ({ exchanges }) => {
  const { args, answer } = exchanges(listBlockTransactions).find(
    (one) => (one.args.mode & PROVED) !== 0 && one.answer.ids.length > 0 && one.args.after === undefined,
  )!;
  const { id: block, count } = args;

  it.each([
    ['accounts', ACCOUNT],
    ['times', LT],
    ['hashes', HASH],
  ])('a listing of %s alone proves all fields, and is refused with a field that was not asked for', (_what, field) => {
    const ids = answer.ids.map(({ account, lt, hash }) => ({
      ...(field === ACCOUNT && { account }),
      ...(field === LT && { lt }),
      ...(field === HASH && { hash }),
    }));
    const expected = { block, mode: PROVED + field, count };
    expect(checkBlockTransactions(expected, { ...answer, ids }).ids).toMatchObject(
      answer.ids.map(({ account, lt, hash }) => ({ account, lt, hash })),
    );
    expect(() => checkBlockTransactions(expected, answer)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'wrong_field' }),
    );
  });

  it('a listing of no transactions goes on, and is refused with one', () => {
    const expected = { block, mode: args.mode, count: 0 };
    const none = { ...answer, ids: [], incomplete: true };
    expect(checkBlockTransactions(expected, none)).toEqual({ ids: [], incomplete: true });
    expect(() => checkBlockTransactions(expected, { ...none, ids: answer.ids.slice(0, 1) })).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'wrong_field' }),
    );
  });
});
