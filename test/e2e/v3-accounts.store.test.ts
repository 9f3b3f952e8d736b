import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { formatFriendlyAddress, formatRawAddress, parseAddress } from '#service/decode/address.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import { startV3UnderTest, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

/** Addresses of one request: the request line stays below what servers take. */
const accountsAtOnce = 100;

let v3: V3UnderTest;
/** Raw addresses of all indexed accounts. */
let accounts: readonly string[];

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename);
  const rows = await v3.index.store.read<{ account: Buffer }>(
    'SELECT account FROM latest_account_states ORDER BY account',
  );
  accounts = rows.map(({ account }) => formatRawAddress(accountOfKey(account), 'upper'));
});
afterAll(() => v3.close());

/** What an operation says of all accounts, asked for in parts. */
async function listAll(operation: string, field: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let at = 0; at < accounts.length; at += accountsAtOnce) {
    const answer = await v3.get(operation, { address: accounts.slice(at, at + accountsAtOnce) });
    expect([answer.status, answer.flaws]).toEqual([200, []]);
    found.push(...((answer.body as Json)[field] as Json[]));
  }
  return found;
}

const hashOf = (boc: unknown): string => Cell.fromBase64(String(boc)).hash().toString('base64');

describe('accountStates', () => {
  it('are those of the lite servers, for every account of the recorded chain', async () => {
    const states = await listAll('accountStates', 'accounts');
    expect(states.map(({ address }) => address)).toEqual(accounts);
    expect(accounts.length).toBeGreaterThan(50);
    for (const state of states) {
      const address = String(state['address']);
      const { result: live } = (await v3.api.get(`getAddressInformation?address=${address}`)).body as { result: Json };
      const { result: cell } = (await v3.api.get(`getShardAccountCell?address=${address}`)).body as { result: Json };
      const { lt, hash } = live['last_transaction_id'] as Json;
      const statuses = state['status'] === 'active' ? ['active'] : ['uninit', 'frozen', 'nonexist'];
      expect(statuses).toContain(state['status']);
      expect({
        address,
        balance: state['balance'],
        currencies: state['extra_currencies'],
        // Of an account that is gone lite servers know no transaction any more.
        last:
          state['status'] === 'nonexist' ? [lt, hash] : [state['last_transaction_lt'], state['last_transaction_hash']],
        code: state['code_boc'] === undefined ? '' : hashOf(state['code_boc']),
        data: state['data_boc'] === undefined ? '' : hashOf(state['data_boc']),
        state: state['account_state_hash'],
        frozen: state['frozen_hash'] ?? '',
        isActive: state['status'] === 'active',
      }).toEqual({
        address,
        balance: live['balance'],
        currencies: Object.fromEntries(
          (live['extra_currencies'] as { id: number; amount: string }[]).map(({ id, amount }) => [id >>> 0, amount]),
        ),
        last: [lt, hash],
        code: live['code'] === '' ? '' : hashOf(live['code']),
        data: live['data'] === '' ? '' : hashOf(live['data']),
        state: Cell.fromBase64(String(cell['bytes'])).refs[0]!.hash().toString('base64'),
        frozen: live['frozen_hash'],
        isActive: live['state'] === 'active',
      });
      expect([state['code_hash'] ?? '', state['data_hash'] ?? '']).toEqual(
        [live['code'], live['data']].map((boc) => (boc === '' ? '' : hashOf(boc))),
      );
    }
  });

  it('come in the order asked for, each once, unknown ones left out, filtered by code, without bags when told so', async () => {
    const [one, other] = [accounts.at(-1)!, accounts[0]!];
    const unknown = `0:${'AB'.repeat(32)}`;
    const answer = await v3.get('accountStates', { address: [one, unknown, other, one], include_boc: false });
    expect(answer.flaws).toEqual([]);
    const { accounts: states, address_book: book } = answer.body as { accounts: Json[]; address_book: Json };
    expect(states.map(({ address }) => address)).toEqual([one, other]);
    expect(Object.keys(book)).toEqual([one, other]);
    for (const state of states) expect(Object.keys(state)).not.toEqual(expect.arrayContaining(['code_boc']));
    const withCode = states.find((state) => state['code_hash'] !== undefined)!;
    const filtered = await v3.get('accountStates', {
      address: accounts.slice(0, 100),
      code_hash: String(withCode['code_hash']),
    });
    const hashes = (filtered.body as { accounts: Json[] }).accounts.map((state) => state['code_hash']);
    expect(hashes.length).toBeGreaterThan(0);
    expect(new Set(hashes)).toEqual(new Set([withCode['code_hash']]));
  });

  it('whose data the blocks did not carry whole are read from lite servers, and are the same', async () => {
    const [address] = (await listAll('walletStates', 'wallets'))
      .filter((wallet) => wallet['is_wallet'] === true)
      .map((wallet) => String(wallet['address']));
    const ask = async () => (await v3.get('accountStates', { address: address! })).body as { accounts: Json[] };
    const wallet = async () =>
      ((await v3.get('walletStates', { address: address! })).body as { wallets: Json[] }).wallets[0];
    const before = { state: (await ask()).accounts[0]!, wallet: await wallet() };
    const key = Buffer.from(`${address!.startsWith('-1') ? '7f' : '80'}${address!.split(':')[1]}`, 'hex');
    const forget = 'UPDATE latest_account_states SET data_boc = NULL, data_boc_hash = NULL WHERE account = $1';
    await v3.index.store.transaction(({ query }) => query(forget, [key]));
    const after = { state: (await ask()).accounts[0]!, wallet: await wallet() };
    expect(hashOf(after.state['data_boc'])).toBe(hashOf(before.state['data_boc']));
    expect({ ...after.state, data_boc: '' }).toEqual({ ...before.state, data_boc: '' });
    expect(after.wallet).toEqual(before.wallet);
  });
});

describe('walletStates', () => {
  it('have the seqno that the contract itself gives, and say of what is no wallet that it is none', async () => {
    const states = await listAll('walletStates', 'wallets');
    const wallets = states.filter((state) => state['is_wallet'] === true);
    expect(states.length).toBe(accounts.length);
    expect(new Set(wallets.map((state) => state['wallet_type'])).size).toBeGreaterThan(3);
    for (const wallet of wallets) {
      const run = await v3.post('runGetMethod', { address: wallet['address'], method: 'seqno', stack: [] });
      const { exit_code: exitCode, stack } = run.body as { exit_code: number; stack: Json[] };
      // v1 r1 and v2 r1 have no such method.
      const seqno = exitCode === 0 ? Number(stack[0]!['value']) : wallet['seqno'];
      expect({ ...wallet, seqno }).toEqual(wallet);
      expect(wallet['wallet_id'] ?? 0).toBeGreaterThanOrEqual(0);
    }
    for (const other of states.filter((state) => state['is_wallet'] === false)) {
      expect(Object.keys(other)).not.toContain('wallet_type');
      expect(Object.keys(other)).not.toContain('seqno');
    }
  });
});

describe('topAccountsByBalance', () => {
  it('is all accounts, the richest first, in pages', async () => {
    const { body, flaws } = await v3.get('topAccountsByBalance', { limit: 1000 });
    expect(flaws).toEqual([]);
    const all = body as { account: string; balance: string }[];
    expect(all.map(({ account }) => account).toSorted()).toEqual(accounts.toSorted());
    const falling = all.toSorted((a, b) => Number(BigInt(b.balance) - BigInt(a.balance)));
    expect(all.map(({ balance }) => balance)).toEqual(falling.map(({ balance }) => balance));
    const pages = await Promise.all(
      [0, 10, 20].map(
        async (offset) => (await v3.get('topAccountsByBalance', { limit: 10, offset })).body as unknown[],
      ),
    );
    expect(pages.flat()).toEqual(all.slice(0, 30));
    expect((await v3.get('topAccountsByBalance', { offset: 10_000_000 })).body).toEqual([]);
  });
});

describe('addressBook', () => {
  it('is keyed by the caller’s spelling; wallets and accounts without code are not bounceable', async () => {
    const states = await listAll('accountStates', 'accounts');
    const wallets = new Map(
      (await listAll('walletStates', 'wallets')).map((one) => [one['address'], one['is_wallet']]),
    );
    for (const state of states.slice(0, 40)) {
      const raw = String(state['address']);
      const parsed = parseAddress(raw)!;
      const friendly = formatFriendlyAddress(parsed, { bounceable: true, testOnly: true });
      const spellings = [...new Set([raw, raw.toLowerCase(), friendly])];
      const { body, flaws } = await v3.get('addressBook', { address: spellings });
      expect(flaws).toEqual([]);
      expect(Object.keys(body as Json)).toEqual(spellings);
      const bounceable = state['code_hash'] !== undefined && wallets.get(raw) === false;
      for (const row of Object.values(body as Record<string, Json>)) {
        expect(row).toEqual({
          user_friendly: formatFriendlyAddress(parsed, { bounceable }),
          domain: null,
          interfaces: state['interfaces'],
        });
      }
    }
  });

  it('keeps what is no address, and an account nobody has seen', async () => {
    const unknown = `0:${'AB'.repeat(32)}`;
    const none = { user_friendly: null, domain: null, interfaces: [] };
    const { body } = await v3.get('addressBook', { address: ['foo', '__proto__', `300:${'AB'.repeat(32)}`, unknown] });
    expect(Object.entries(body as Json)).toEqual([
      ['foo', none],
      ['__proto__', none],
      [`300:${'AB'.repeat(32)}`, none],
      [
        unknown,
        {
          user_friendly: formatFriendlyAddress(parseAddress(unknown)!, { bounceable: false }),
          domain: null,
          interfaces: [],
        },
      ],
    ]);
  });

  it('is left out of answers when the caller wants none', async () => {
    const query = { address: accounts[0]! };
    const { body } = await v3.get('accountStates', query, { 'x-no-address-book': 'true' });
    expect((body as Json)['address_book']).toEqual({});
    expect(((await v3.get('accountStates', query)).body as Json)['address_book']).not.toEqual({});
  });
});

describe('what is wrong with a request about accounts', () => {
  const needs = 'address of account is required';
  it.each([
    ['addressBook', {}, 'at least 1 address required'],
    ['addressBook', { address: '' }, 'at least 1 address required'],
    ['metadata', {}, 'at least 1 address required'],
    ['accountStates', {}, needs],
    ['accountStates', { address: '' }, needs],
    ['accountStates', { address: 'x' }, 'failed to decode: schema: error converting value for index 0 of "address"'],
    ['walletStates', {}, needs],
    ['topAccountsByBalance', { limit: 1001 }, 'limit is not allowed: 1001 > 1000'],
  ])('%s %j is told', async (operation, query, error) => {
    const { status, body, flaws } = await v3.get(operation, query);
    expect([status, body, flaws]).toEqual([422, { ok: false, code: 422, error }, []]);
  });

  it('metadata of what is no token is empty', async () => {
    expect((await v3.get('metadata', { address: accounts.slice(0, 3) })).body).toEqual({});
  });
});
