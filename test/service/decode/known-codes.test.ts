import { readFileSync } from 'node:fs';

import * as ton from '@ton/ton';
import { describe, expect, test } from 'vitest';

import { knownCodes, knownWallet, walletTypes } from '#service/decode/known-codes.ts';
import { readSources } from '#test/style/sources.ts';

const publicKey = Buffer.alloc(32, 9);
const workchain = 0;

/** Wallets of the client library by their type here. The library has no v4 r1. */
const wallets = {
  'wallet v1 r1': ton.WalletContractV1R1.create({ workchain, publicKey }),
  'wallet v1 r2': ton.WalletContractV1R2.create({ workchain, publicKey }),
  'wallet v1 r3': ton.WalletContractV1R3.create({ workchain, publicKey }),
  'wallet v2 r1': ton.WalletContractV2R1.create({ workchain, publicKey }),
  'wallet v2 r2': ton.WalletContractV2R2.create({ workchain, publicKey }),
  'wallet v3 r1': ton.WalletContractV3R1.create({ workchain, publicKey }),
  'wallet v3 r2': ton.WalletContractV3R2.create({ workchain, publicKey }),
  'wallet v4 r2': ton.WalletContractV4.create({ workchain, publicKey }),
  'wallet v5 beta': ton.WalletContractV5Beta.create({ publicKey }),
  'wallet v5 r1': ton.WalletContractV5R1.create({ publicKey }),
};

/** Hashes of 32 bytes in a text, as standard base64. */
function hashesIn(text: string): string[] {
  const base64 = text.match(/(?<![\w+/])[\w+/]{43}=/g) ?? [];
  const hex = text.match(/(?<![\da-fA-F])[\da-fA-F]{64}(?![\da-fA-F])/g) ?? [];
  return [...base64, ...hex.map((digits) => Buffer.from(digits, 'hex').toString('base64'))];
}

describe('known code', () => {
  test('each hash is in the list once, as 32 bytes of standard base64', () => {
    const hashes = knownCodes.map(({ hash }) => hash);
    expect(hashes).toEqual([...new Set(hashes)]);
    expect(hashes.map((hash) => Buffer.from(hash, 'base64').toString('base64'))).toEqual(hashes);
    expect(hashes.filter((hash) => hash.length !== 44)).toEqual([]);
  });

  test('no other file of the service has a hash of the list', () => {
    const known = new Set(knownCodes.map(({ hash }) => hash));
    const interfaces = 'service/v3/views/account-interfaces.json';
    const sources = [...readSources('service'), { path: interfaces, text: readFileSync(interfaces, 'utf8') }];
    const spelled = sources
      .filter(({ text }) => hashesIn(text).some((hash) => known.has(hash)))
      .map(({ path }) => path);
    expect(spelled).toEqual(['service/decode/known-codes.ts']);
  });

  test.each(Object.entries(wallets))('the code of a %s is that of the client library', (type, { init }) => {
    expect(knownWallet(init.code.hash().toString('base64'))?.type).toBe(type);
  });

  test('types of wallets are listed by the layout of their data', () => {
    expect(walletTypes('seqno')).toEqual(
      [1, 2, 3].map((r) => `wallet v1 r${r}`).concat('wallet v2 r1', 'wallet v2 r2'),
    );
    expect(walletTypes('v5')).toEqual(['wallet v5 r1']);
    expect(walletTypes()).toHaveLength(11);
    expect(new Set(walletTypes())).toEqual(new Set([...Object.keys(wallets), 'wallet v4 r1']));
  });
});
