import { describe, expect, it } from 'vitest';

import { formsOf } from '#service/explorer/app/search.ts';

const hex = 'ab'.repeat(32);
const base64 = Buffer.from(hex, 'hex').toString('base64');
const base64url = Buffer.from(hex, 'hex').toString('base64url');
const friendly = 'UQDYw82TzSA0cTKivxKqzI9wGANEx3Eik91TqQ69wNx59xjW';
const block = (workchain: number, shard: string, seqno: number) => ({ form: 'block', workchain, shard, seqno });

describe('a text in the search', () => {
  it.each([
    [`0:${hex}`, [{ form: 'address', address: `0:${hex}` }]],
    [` ${friendly} `, [{ form: 'address', address: friendly }]],
    [friendly.replaceAll('-', '+'), [{ form: 'address', address: friendly.replaceAll('-', '+') }]],
    [hex, [{ form: 'hash', hash: hex }]],
    [`0x${hex}`, [{ form: 'hash', hash: hex }]],
    [`https://explorer.test/explorer/trace/0x${hex}`, [{ form: 'hash', hash: hex }]],
    [hex.toUpperCase(), [{ form: 'hash', hash: hex }]],
    [base64, [{ form: 'hash', hash: hex }]],
    [base64url, [{ form: 'hash', hash: hex }]],
    ['(-1,8000000000000000,77)', [block(-1, '8000000000000000', 77)]],
    ['-1:8000000000000000:77', [block(-1, '8000000000000000', 77)]],
    ['( 0 , a000000000000000 , 5 )', [block(0, 'a000000000000000', 5)]],
    ['(0,-9223372036854775808,5)', [block(0, '8000000000000000', 5)]],
    [
      `(0,8000000000000000,1345):${hex.toUpperCase()}:${hex}`,
      [{ ...block(0, '8000000000000000', 1345), rootHash: hex }],
    ],
    ['77', [block(-1, '8000000000000000', 77)]],
    ['Alice.TON', [{ form: 'domain', domain: 'alice.ton' }]],
    ['sub.alice.t.me.', [{ form: 'domain', domain: 'sub.alice.t.me' }]],
    [`https://tonviewer.com/${friendly}?section=overview`, [{ form: 'address', address: friendly }]],
    [`ton://transfer/${friendly}`, [{ form: 'address', address: friendly }]],
    [`https://explorer.test/explorer/tx/${encodeURIComponent(base64)}`, [{ form: 'hash', hash: hex }]],
  ])('has the form of what it names: %s', (text, forms) => {
    expect(formsOf(text)).toEqual(forms);
  });

  it.each([
    '',
    '  ',
    'hello',
    'a b.ton',
    '(1,2)',
    '(0,99999999999999999999,5)',
    `(0,8000000000000000,5):${hex}`,
    'x'.repeat(100_000),
    '<b>.</b>',
  ])('has no form: %s', (text) => {
    expect(formsOf(text)).toEqual([]);
  });
});
