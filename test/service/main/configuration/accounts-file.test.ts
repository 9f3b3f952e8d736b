import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startupAccounts } from '#service/devchain/dev/startup-accounts.ts';
import { readAccountsFile } from '#service/main/configuration/accounts-file.ts';

const address = `-1:${'be'.repeat(32)}`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-accounts-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a file of accounts', () => {
  it.each<[object, string]>([
    [{ a: {} }, 'a: expected either mnemonic or address'],
    [{ a: { mnemonic: 'one two three' } }, 'a.mnemonic: expected a TON mnemonic of 24 words'],
    [{ a: { address: '5:00' } }, 'a.address: expected an address of workchain 0 or -1'],
    [{ a: { address, balance: -1 } }, 'a.balance: expected TON above 0'],
    [{ a: { address, amount: 1 } }, 'a: expected only the fields mnemonic, address, balance, got amount'],
    [[], 'expected an object of accounts'],
  ])('is refused as %j with the account and the field', async (accounts, expected) => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify(accounts));
    await expect(readAccountsFile(file, -217)).rejects.toThrow(`--accounts: ${expected}`);
  });

  it('is refused when an entry has the address of another one, or of a startup wallet', async () => {
    const file = join(folder, 'twice.json');
    writeFileSync(file, JSON.stringify({ a: { address }, b: { address } }));
    await expect(readAccountsFile(file, -217)).rejects.toThrow(`--accounts: b: ${address} is the address of a already`);
    const startup = startupAccounts(-217);
    writeFileSync(file, JSON.stringify({ carl: { mnemonic: startup[1]!.mnemonic } }));
    await expect(readAccountsFile(file, -217, startup)).rejects.toThrow('--accounts: carl: ');
    await expect(readAccountsFile(file, -217, startup)).rejects.toThrow('is the address of wallet 2 already');
  });
});
