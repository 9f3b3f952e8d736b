import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createKeyring } from '#service/limits/keyring.ts';
import { runKeys } from '#service/main/commands/keys.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const hourMs = 3_600_000;

const idOf = (key: string): string => key.split('_')[1] ?? '';

describe('tonplane keys', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keys-'));
    file = join(folder, 'keyring.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const run = async (...args: string[]): Promise<string> =>
    (await runKeys([...args, '--keyring', file], noonMs, {})).trim();
  const find = (key: string, unixMs = noonMs) => createKeyring({ file }).find(key, unixMs);

  it('creates a key for emulation alone', async () => {
    const key = await run('create', '--plan', 'pro', '--method', 'emulateTrace', '--method', 'emulateTonConnect');
    expect(find(key)?.terms.allowedMethods).toEqual(new Set(['emulateTrace', 'emulateTonConnect']));
  });

  it('creates a key that is in force with its terms, in a file for its owner alone that does not hold it', async () => {
    const key = await run(
      'create',
      '--plan',
      'pro',
      '--owner',
      'acme',
      '--network',
      'mainnet',
      '--method',
      'getAddressState',
      '--rate',
      '50',
    );
    expect(find(key)?.terms).toMatchObject({
      plan: 'pro',
      owner: 'acme',
      networks: ['mainnet'],
      allowedMethods: new Set(['getAddressState']),
      overrides: { requestsPerSecond: 50 },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(key);
    expect(readdirSync(folder)).toEqual(['keyring.json']);
  });

  it('creates a key for operations of v2 and v3, by any of their names', async () => {
    const names = ['getTransactions', 'transactions', 'jetton/masters', 'sendBocUnsafe', 'shards', 'account', 'usage'];
    const key = await run('create', '--plan', 'pro', ...names.flatMap((name) => ['--method', name]));
    expect([...(find(key)?.terms.allowedMethods ?? [])]).toEqual([
      'getTransactions',
      'transactions',
      'jetton/masters',
      'sendBocUnsafe',
      'getShards',
      'addressInformation',
      'usage',
    ]);
  });

  it.each([
    ['getTransaction', 'got "getTransaction"; did you mean getTransactions, getTransactionsStd?'],
    ['GETADDRESSSTATE', 'did you mean getAddressState?'],
    ['/api/v3/jetton/masters', 'did you mean jetton/masters?'],
    ['nowhere', '--method: expected the name of an operation, got "nowhere"'],
    ['jsonRPC', 'got "jsonRPC"'],
    ['constructor', 'got "constructor"'],
    ['', 'got ""'],
  ])('makes no key for the operation %j, which does not exist', async (name, message) => {
    await expect(run('create', '--plan', 'pro', '--method', name)).rejects.toThrow(message);
    await expect(run('create', '--plan', 'pro', '--method', 'transactions', '--method', name)).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('lists ids and terms, and nothing that is stored of a key', async () => {
    const key = await run('create', '--plan', 'pro');
    const text = await run('list');
    expect(text).toBe(`${idOf(key)}  {"plan":"pro"}`);
  });

  it('revokes one key and no other', async () => {
    const [kept, gone] = [await run('create', '--plan', 'pro'), await run('create', '--plan', 'pro')];
    expect(await run('revoke', '--id', idOf(gone))).toBe(`revoked ${idOf(gone)}`);
    expect([find(kept)?.id, find(gone)]).toEqual([idOf(kept), undefined]);
  });

  it('rotates: both keys share one budget until the overlap is over', async () => {
    const old = await run('create', '--plan', 'pro');
    const fresh = await run('rotate', '--id', idOf(old), '--overlap', '2');
    expect(find(fresh)?.terms).toMatchObject({ plan: 'pro', owner: find(old)?.terms.owner });
    expect(find(old, noonMs + 2 * hourMs - 1)).toBeDefined();
    expect(find(old, noonMs + 2 * hourMs)).toBeUndefined();
    expect(find(fresh, noonMs + 2 * hourMs)).toBeDefined();
  });

  it.each([
    [['create'], '--plan: expected the name of a plan'],
    [['forget'], 'expected one of: create, list, revoke, rotate'],
    [['create', '--plan', 'pro', '--source', 'home'], 'allowedSources: expected an array'],
    [['create', '--plan', 'pro', '--rate', 'fast'], '--rate: expected a whole number'],
    [['list'], '--keyring: expected a readable file'],
    [['create', '--plan', 'pro', '--rate', '0'], 'overrides: expected whole'],
  ])('refuses %j and leaves no file', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves a file alone that is no keyring', async () => {
    writeFileSync(file, 'precious');
    await expect(run('create', '--plan', 'pro')).rejects.toThrow('expected JSON');
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });
});
