import { beginCell } from '@ton/core';
import * as ton from '@ton/ton';
import { describe, expect, test } from 'vitest';

import { readWallet } from '#service/live/contracts/wallets.ts';
import { viewWalletInformation } from '#service/v2/wallets.ts';
import { absentAccount, activeAccount, bytes32, emptyCellBoc } from '#test/service/v2/scripted-accounts.ts';

const account = { workchain: 0, id: bytes32(7) };
const publicKey = bytes32(9);
const walletId = 0x8000_0001;

/** Code and first data of a wallet as the client library deploys it. */
function deployed({ init }: { readonly init: { readonly code: ton.Cell; readonly data: ton.Cell } }) {
  return { code: init.code.toBoc(), data: init.data.toBoc() };
}

const v1To4 = { workchain: 0, publicKey, walletId };
const numbered = [
  ['wallet v1 r1', ton.WalletContractV1R1.create(v1To4)],
  ['wallet v1 r2', ton.WalletContractV1R2.create(v1To4)],
  ['wallet v1 r3', ton.WalletContractV1R3.create(v1To4)],
  ['wallet v2 r1', ton.WalletContractV2R1.create(v1To4)],
  ['wallet v2 r2', ton.WalletContractV2R2.create(v1To4)],
] as const;
const identified = [
  ['wallet v3 r1', ton.WalletContractV3R1.create(v1To4)],
  ['wallet v3 r2', ton.WalletContractV3R2.create(v1To4)],
  ['wallet v4 r2', ton.WalletContractV4.create(v1To4)],
] as const;

/** The data that a wallet has after some messages. */
function dataOf(build: (data: ReturnType<typeof beginCell>) => ReturnType<typeof beginCell>): Buffer {
  return build(beginCell()).storeBuffer(publicKey).endCell().toBoc();
}

describe('a wallet as the client library deploys it', () => {
  test.each(numbered)('%s has a seqno', (type, contract) => {
    expect(readWallet(deployed(contract))).toEqual({ type, seqno: 0 });
    const data = dataOf((cell) => cell.storeUint(4_294_967_295, 32));
    expect(readWallet({ ...deployed(contract), data })).toEqual({ type, seqno: 4_294_967_295 });
  });

  test('of a proved account is found by the hash of its code, which is not read', () => {
    const [, { init }] = numbered[0];
    const state = { code: Buffer.alloc(0), codeHash: init.code.hash(), data: init.data.toBoc() };
    expect(readWallet(state)).toEqual({ type: 'wallet v1 r1', seqno: 0 });
  });

  test.each(identified)('%s has a seqno and an unsigned id', (type, contract) => {
    expect(readWallet(deployed(contract))).toEqual({ type, seqno: 0, walletId });
    const data = dataOf((cell) => cell.storeUint(5, 32).storeUint(walletId, 32));
    expect(readWallet({ ...deployed(contract), data })).toEqual({ type, seqno: 5, walletId });
  });

  test('wallet v5 r1 has a signed id and tells whether signatures are allowed', () => {
    const wallet = deployed(ton.WalletContractV5R1.create({ workchain: 0, publicKey }));
    expect(readWallet(wallet)).toMatchObject({ type: 'wallet v5 r1', seqno: 0, isSignatureAllowed: true });
    const data = dataOf((cell) => cell.storeBit(false).storeUint(6, 32).storeInt(-239, 32));
    const expected = { type: 'wallet v5 r1', seqno: 6, walletId: -239, isSignatureAllowed: false };
    expect(readWallet({ ...wallet, data })).toEqual(expected);
  });

  test('wallet v5 beta has a seqno of 33 bits, the first read as a flag, and an id of which 32 bits are read', () => {
    const type = 'wallet v5 beta';
    const wallet = deployed(ton.WalletContractV5Beta.create({ publicKey }));
    const networkId = -239 >>> 0;
    expect(readWallet(wallet)).toEqual({ type, seqno: 0, walletId: networkId, isSignatureAllowed: false });
    const data = dataOf((cell) => cell.storeUint(77, 33).storeUint(1n << 48n, 80));
    expect(readWallet({ ...wallet, data })).toEqual({ type, seqno: 77, walletId: 1, isSignatureAllowed: false });
  });
});

describe('what is no wallet', () => {
  const wallet = deployed(ton.WalletContractV4.create(v1To4));

  test.each([
    ['other code', { code: emptyCellBoc, data: wallet.data }],
    ['no code', { code: null, data: wallet.data }],
    ['no data', { code: wallet.code, data: null }],
    ['data too short for its code', { code: wallet.code, data: emptyCellBoc }],
  ])('%s', (_what, state) => {
    expect(readWallet(state)).toBeUndefined();
  });
});

describe('the view of a wallet', () => {
  const common = { '@type': 'ext.accounts.walletInformation', balance: '2099997242' };
  const last = { '@type': 'internal.transactionId', lt: '35244717000001', hash: bytes32(0xaf).toString('base64') };

  test('has the fields of its type alone, in the order of the contract', () => {
    const [, v1] = numbered[0];
    const view = viewWalletInformation(activeAccount(account, deployed(v1)), 'active');
    const head = { ...common, wallet: true, account_state: 'active', last_transaction_id: last };
    expect(view).toEqual({ ...head, wallet_type: 'wallet v1 r1', seqno: 0 });
    expect(Object.keys(view)).toEqual([
      '@type',
      'wallet',
      'balance',
      'account_state',
      'last_transaction_id',
      'wallet_type',
      'seqno',
    ]);
    const [, v3] = identified[0];
    const identifiedView = viewWalletInformation(activeAccount(account, deployed(v3)), 'active');
    expect(identifiedView).toEqual({ ...head, wallet_type: 'wallet v3 r1', seqno: 0, wallet_id: walletId });
    const v5 = deployed(ton.WalletContractV5R1.create({ workchain: 0, publicKey }));
    const view5 = viewWalletInformation(activeAccount(account, v5), 'active');
    expect(Object.keys(view5).slice(-3)).toEqual(['seqno', 'wallet_id', 'is_signature_allowed']);
  });

  test('of another account has no type', () => {
    expect(viewWalletInformation(absentAccount(account), 'uninitialized')).toEqual({
      '@type': 'ext.accounts.walletInformation',
      wallet: false,
      balance: '0',
      account_state: 'uninitialized',
      last_transaction_id: { '@type': 'internal.transactionId', lt: '0', hash: Buffer.alloc(32).toString('base64') },
    });
  });
});
