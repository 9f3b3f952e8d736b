import { mnemonicToPrivateKey, mnemonicValidate } from '@ton/crypto';

import { formatRawAddress, parseAddress } from '#service/decode/address.ts';
import { readAmount } from '#service/devchain/dev/ton-amount.ts';
import type { StartupAccount } from '#service/devchain/dev/startup-accounts.ts';
import { walletsOfKey } from '#service/devchain/dev/startup-accounts.ts';
import { StartError } from '../errors.ts';
import { readNamedFile } from './named-files.ts';

/** Accounts of a file: deriving the key of each takes a tenth of a second. */
const ACCOUNTS_MAX = 100;
const NAME_CHARACTERS_MAX = 64;
const FILE_CHARACTERS_MAX = 1_048_576;

/** TON of an account that names no balance. */
const DEFAULT_BALANCE = '1000';

/**
 * Reads `{"alice": {"mnemonic": "24 words", "balance": "100"}, "bob": {"address": "EQ…"}}`. A balance is in TON, default 1000.
 * @param globalId of the network, part of the addresses of wallets v5
 * @param taken accounts that the network has already. A second entry for an address would not get its own balance, and is refused.
 * @throws StartError `file_unreadable`, `accounts_invalid` naming the account and the field
 */
export async function readAccountsFile(
  path: string,
  globalId: number,
  taken: readonly StartupAccount[] = [],
): Promise<StartupAccount[]> {
  const text = readNamedFile('--accounts', path);
  if (text.length > FILE_CHARACTERS_MAX) throw invalid(`expected a file of at most ${FILE_CHARACTERS_MAX} characters`);
  const given = parse(text);
  const entries = Object.entries(given);
  if (entries.length > ACCOUNTS_MAX) throw invalid(`expected at most ${ACCOUNTS_MAX} accounts, got ${entries.length}`);
  const accounts = await Promise.all(entries.map(([name, account]) => readOne(name, account, globalId)));
  refuseTwice([...taken, ...accounts]);
  return accounts;
}

function refuseTwice(accounts: readonly StartupAccount[]): void {
  const owners = new Map<string, StartupAccount>();
  for (const account of accounts) {
    for (const address of account.addresses.map(({ place }) => formatRawAddress(place))) {
      const owner = owners.get(address);
      if (owner !== undefined)
        throw invalid(`${account.name}: ${address.toLowerCase()} is the address of ${owner.name} already`);
      owners.set(address, account);
    }
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    throw invalid('expected JSON', cause);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('expected an object of accounts');
  return given as Record<string, unknown>;
}

const FIELDS = ['mnemonic', 'address', 'balance'];

async function readOne(name: string, given: unknown, globalId: number): Promise<StartupAccount> {
  if (name === '' || name.length > NAME_CHARACTERS_MAX || /\p{Cc}/u.test(name)) {
    throw invalid(`expected names of 1 to ${NAME_CHARACTERS_MAX} printable characters`);
  }
  const fields = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
  const { mnemonic, address, balance = DEFAULT_BALANCE } = fields;
  const unknown = Object.keys(fields).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw invalid(`${name}: expected only the fields ${FIELDS.join(', ')}, got ${unknown.slice(0, 40)}`);
  if ((mnemonic === undefined) === (address === undefined))
    throw invalid(`${name}: expected either mnemonic or address`);
  const shared = { name, balance: readBalance(name, balance) };
  if (address !== undefined) return { ...shared, addresses: [{ place: readPlace(name, address) }] };
  const words = typeof mnemonic === 'string' ? mnemonic.trim().split(/\s+/) : [];
  if (words.length !== 24 || !(await mnemonicValidate(words)))
    throw invalid(`${name}.mnemonic: expected a TON mnemonic of 24 words`);
  const { publicKey } = await mnemonicToPrivateKey(words);
  return { ...shared, mnemonic: words.join(' '), addresses: walletsOfKey(publicKey, globalId) };
}

function readPlace(name: string, address: unknown): { readonly workchain: number; readonly id: Buffer } {
  const parsed = typeof address === 'string' ? parseAddress(address.trim()) : undefined;
  if (parsed === undefined || (parsed.workchain !== 0 && parsed.workchain !== -1)) {
    throw invalid(`${name}.address: expected an address of workchain 0 or -1, raw or friendly`);
  }
  return { workchain: parsed.workchain, id: parsed.id };
}

function readBalance(name: string, balance: unknown): bigint {
  try {
    return readAmount(balance);
  } catch (cause) {
    throw invalid(`${name}.balance: expected TON above 0, at most 1000000`, cause);
  }
}

function invalid(problem: string, cause?: unknown): StartError {
  return new StartError({
    code: 'accounts_invalid',
    message: `--accounts: ${problem}`,
    data: {},
    retryable: false,
    cause,
  });
}
