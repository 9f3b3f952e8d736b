import { describe, expect, test } from 'vitest';

import { methodIdOf } from '#service/tvm/method-id.ts';
import { interfacesOf } from '#service/v3/views/account-interfaces.ts';

const walletV4R2 = '/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=';
const unknownCode = Buffer.alloc(32, 7).toString('base64');
const ids = (...names: string[]): number[] => names.map(methodIdOf);

describe('the interfaces of an account', () => {
  test('of known code are its name alone, whatever methods it has', () => {
    expect(interfacesOf({ codeHash: walletV4R2, methods: ids('get_jetton_data') })).toEqual(['wallet_v4r2']);
  });

  test('of other code are all whose methods it has, sorted', () => {
    const methods = ids('get_jetton_data', 'get_wallet_address', 'get_nft_data', 'seqno');
    const names = interfacesOf({ codeHash: unknownCode, methods });
    expect(names).toContain('jetton_master');
    expect(names).toContain('nft_item');
    expect(names).toEqual(names.toSorted());
  });

  test('with one method of two missing are not had', () => {
    expect(interfacesOf({ codeHash: unknownCode, methods: ids('get_distribution_info', 'get_unlocks_info') })).toEqual(
      [],
    );
    const all = ids('get_distribution_info', 'get_unlocks_info', 'get_available_claim_amount');
    expect(interfacesOf({ codeHash: unknownCode, methods: all })).toContain('airdrop_interlocker_v2');
  });

  test.each([
    ['no code', { codeHash: null, methods: null }],
    ['code without a readable dictionary', { codeHash: unknownCode, methods: null }],
    ['no methods', { codeHash: unknownCode, methods: [] }],
    ['methods that nobody knows', { codeHash: unknownCode, methods: [1, 2, 3] }],
  ])('of an account with %s are none', (_what, code) => {
    expect(interfacesOf(code)).toEqual([]);
  });
});
