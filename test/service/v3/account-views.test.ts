import { beginCell } from '@ton/core';
import * as ton from '@ton/ton';
import { describe, expect, test } from 'vitest';

import { accountKey } from '#service/store/account-key.ts';
import type { AccountRow } from '#service/store/queries/accounts.ts';
import { viewAddressInformation, viewWalletInformation } from '#service/v3/operations/account-information.ts';
import { viewAccountState } from '#service/v3/operations/account-states.ts';
import { viewWalletState } from '#service/v3/operations/wallet-states.ts';
import { absentAccount, activeAccount, bytes32 } from '#test/service/v2/scripted-accounts.ts';

const id = bytes32(7);
const raw = `0:${'07'.repeat(32)}`;
const publicKey = bytes32(9);
const text = (byte: number): string => bytes32(byte).toString('base64');

const { code: v5Code } = ton.WalletContractV5R1.create({ workchain: 0, publicKey }).init;
const v5Data = beginCell().storeBit(true).storeUint(6, 32).storeInt(-239, 32).storeBuffer(publicKey).endCell();
const { code: betaCode } = ton.WalletContractV5Beta.create({ publicKey }).init;
const betaData = beginCell().storeUint(77, 33).storeInt(-239, 32).storeUint(0, 48).storeBuffer(publicKey).endCell();

const empty = beginCell().endCell();

const row: AccountRow = {
  account: accountKey({ workchain: 0, id }),
  hash: bytes32(1),
  balance: 5n,
  extra_currencies: null,
  status: 0,
  utime: 1,
  last_trans_hash: bytes32(2),
  last_trans_lt: 77n,
  frozen_hash: null,
  data_hash: null,
  code_hash: null,
  data_boc: null,
  code_boc: null,
  methods: null,
};

const walletRow = (code: ton.Cell, data: ton.Cell): AccountRow => ({
  ...row,
  status: 2,
  code_hash: code.hash(),
  data_hash: data.hash(),
  data_boc: data.toBoc(),
});

const common = { balance: '5', last_transaction_hash: text(2), last_transaction_lt: '77' };

describe('the state of an account', () => {
  test('without code leaves out what it does not have', () => {
    expect(viewAccountState(row)).toEqual({
      address: raw,
      account_state_hash: text(1),
      ...common,
      extra_currencies: {},
      status: 'uninit',
      contract_methods: null,
      interfaces: [],
    });
  });

  test('has hashes and bags of what it has', () => {
    const shown = viewAccountState({
      ...row,
      status: 1,
      frozen_hash: bytes32(3),
      code_hash: bytes32(4),
      data_hash: bytes32(5),
      code_boc: Buffer.from('code'),
      data_boc: Buffer.from('data'),
      extra_currencies: { '100': '7' },
      methods: [1, 2],
    });
    expect(shown).toMatchObject({
      status: 'frozen',
      frozen_hash: text(3),
      code_hash: text(4),
      data_hash: text(5),
      code_boc: Buffer.from('code').toString('base64'),
      data_boc: Buffer.from('data').toString('base64'),
      extra_currencies: { '100': '7' },
      contract_methods: [1, 2],
    });
    expect(viewAccountState({ ...row, status: 3 }).status).toBe('nonexist');
  });

  test('does not say that it has no other currencies where blocks did not show them', () => {
    expect(viewAccountState({ ...row, extra_currencies: {} }).extra_currencies).toBeNull();
  });
});

describe('the state of a wallet', () => {
  test('has an unsigned id, also of v5, and says whether signatures are allowed', () => {
    expect(viewWalletState(walletRow(v5Code, v5Data))).toEqual({
      address: raw,
      is_wallet: true,
      wallet_type: 'wallet v5 r1',
      seqno: 6,
      wallet_id: -239 >>> 0,
      is_signature_allowed: true,
      status: 'active',
      code_hash: v5Code.hash().toString('base64'),
      ...common,
    });
    expect(viewWalletState(walletRow(betaCode, betaData))).toMatchObject({
      wallet_type: 'wallet v5 beta',
      seqno: 77,
      wallet_id: -239 >>> 0,
      is_signature_allowed: false,
    });
  });

  test('of what is no wallet, or whose data are another’s, says that it is none', () => {
    expect(viewWalletState(row)).toEqual({ address: raw, is_wallet: false, status: 'uninit', ...common });
    for (const none of [walletRow(v5Code, empty), { ...walletRow(v5Code, empty), data_hash: null, data_boc: null }]) {
      const shown = viewWalletState(none);
      expect(shown).toMatchObject({ is_wallet: false, status: 'active' });
      expect(shown).not.toHaveProperty('wallet_type');
    }
  });

  test('without known data shows the facts of its code', () => {
    const unread = { ...walletRow(v5Code, v5Data), data_boc: null };
    const known = { is_wallet: true, wallet_type: 'wallet v5 r1', status: 'active' };
    expect(viewWalletState(unread)).toEqual({
      address: raw,
      ...known,
      code_hash: v5Code.hash().toString('base64'),
      ...common,
    });
    expect(viewWalletState({ ...walletRow(empty, v5Data), data_boc: null })).toMatchObject({ is_wallet: false });
  });

  test('shows its known extra currencies', () => {
    expect(viewWalletState({ ...row, extra_currencies: { '100': '7' } }).extra_currencies).toEqual({ '100': '7' });
    expect(viewWalletState({ ...row, extra_currencies: {} })).not.toHaveProperty('extra_currencies');
  });
});

describe('an account in the manner of v2', () => {
  const account = { workchain: 0, id };
  const frozen = absentAccount(account, { state: 'frozen', frozenHash: bytes32(8), balance: 3n });
  const v5 = activeAccount(account, { code: v5Code.toBoc(), data: v5Data.toBoc() });
  const beta = activeAccount(account, { code: betaCode.toBoc(), data: betaData.toBoc() });

  test('that is frozen shows the hash of its state in the words of v2 alone', () => {
    expect(viewAddressInformation(frozen, true)).toMatchObject({
      status: 'frozen',
      frozen_hash: text(8),
      code: null,
      data: null,
    });
    expect(viewAddressInformation(frozen, false)).toMatchObject({ status: 'frozen', frozen_hash: null });
    expect(() => viewWalletInformation(frozen, false)).toThrow(expect.objectContaining({ code: 'not_a_wallet' }));
  });

  test('that is a wallet v5 has a signed id in the words of v2, and the beta none', () => {
    const information = { wallet_type: 'wallet v5 r1', seqno: 6, status: 'active' };
    expect(viewWalletInformation(v5, false)).toMatchObject({ ...information, wallet_id: -239 >>> 0 });
    expect(viewWalletInformation(v5, true)).toMatchObject({ ...information, wallet_id: -239 });
    expect(Object.keys(viewWalletInformation(v5, false))).not.toContain('is_signature_allowed');
    expect(Object.keys(viewWalletInformation(beta, true))).not.toContain('wallet_id');
    expect(viewWalletInformation(beta, false)).toMatchObject({ wallet_id: -239 >>> 0 });
  });
});
