import { beginCell, Dictionary } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';
import { foldBody } from '#service/explorer/app/parts/folded-body.ts';

const nothing = { '@type': 'nothing_from_maybe' };
const hash = 'AB'.repeat(32);

describe('a decoded body in the explorer', () => {
  it.each([
    ['a number of any size', { '@type': 'var_uint', len: '1', value: '5' }, '5'],
    ['coins', { '@type': 'nanocoins', amount: { '@type': 'var_uint', len: '1', value: '7' } }, '7'],
    ['an account', { '@type': 'addr_std', anycast: nothing, workchain_id: '-1', address: hash }, `-1:${hash}`],
    ['no address', { '@type': 'addr_none' }, 'addr_none'],
    ['nothing', nothing, null],
    ['a value in a cell', { '@type': 'something_from_maybe', value: { cell_reference: { a: '1' } } }, { a: '1' }],
    ['one of two', { '@type': 'second_from_either', value: 'te6cc' }, 'te6cc'],
    ['a field without a name', { '@type': 'x', '': { '@type': 'y', b: '2' } }, { '@type': 'x', b: '2' }],
    [
      'a text in chunks',
      { '@type': 'text', chunks: '1', rest: { '@type': 'text_chunk', len: '2', data: '676D', next: {} } },
      'gm',
    ],
    ['a body of other constructors', { '@type': 'excess', query_id: '7' }, { '@type': 'excess', query_id: '7' }],
  ])('shows %s as readers know it', (_what, value, shown) => {
    expect(foldBody(value)).toEqual(shown);
  });

  it('shows a dictionary by its keys', () => {
    const burnt = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Int(32));
    for (const key of [0, 1, 5, 1_000_000, 0xffff_ffff]) burnt.set(key, key % 7);
    const body = beginCell().storeUint(0x73403c43, 32).storeUint(9, 64).storeDict(burnt).storeBit(false).endCell();
    const table = parseBoc(body.toBoc());
    expect(foldBody(decodeBody(new CellSlice(table, table.roots[0]!)))).toEqual({
      '@type': 'bidask_burn',
      query_id: '9',
      tokens_to_burn: { 0: '0', 1: '1', 5: '5', 1000000: '1', 4294967295: String(0xffff_ffff % 7) },
      forward_payload: null,
    });
  });
});
