import { Address, TonClient } from '@ton/ton';
import TonWeb from 'tonweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import { absentAccount, activeAccount, bytes32, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { startListener, type Listener } from './listener.ts';

/** Its types describe a module with a default export, its code is the class itself. */
const tonweb = TonWeb as unknown as typeof TonWeb.default;

const hash = bytes32(0xab);
const account = { workchain: 0, id: hash };
const address = new Address(0, hash);

const states: Record<string, LiveAccount> = {
  active: activeAccount(account, { extraCurrencies: [{ id: 100, amount: 5n }] }),
  frozen: absentAccount(account, { state: 'frozen', frozenHash: bytes32(7), balance: 3n }),
  uninitialized: absentAccount(account),
};

let current: LiveAccount = states['active']!;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts: scriptAccounts({ account: () => current }) });
});
afterAll(() => listener.close());

const client = () => new TonClient({ endpoint: `${listener.url}/api/v2/jsonRPC`, apiKey: 'any' });

const provider = () => new tonweb.HttpProvider(`${listener.url}/api/v2/jsonRPC`, { apiKey: 'any' });

describe('@ton/ton TonClient', () => {
  it('reads the masterchain head', async () => {
    const info = await client().getMasterchainInfo();
    expect(info).toMatchObject({ workchain: -1, shard: '-9223372036854775808', latestSeqno: 37_926_913 });
  });

  it.each(['active', 'frozen', 'uninitialized'])('reads an account that is %s', async (name) => {
    current = states[name]!;
    const state = await client().getContractState(address);
    expect(state.state).toBe(name);
    expect(state.balance).toBe(current.balance);
    expect(await client().getBalance(address)).toBe(current.balance);
    expect(await client().isContractDeployed(address)).toBe(name === 'active');
    expect(state.code && Buffer.from(state.code)).toEqual(current.code);
  });

  it('gets an error with the reason', async () => {
    const endpoint = `${listener.url}/api/v2/nope`;
    await expect(new TonClient({ endpoint }).getMasterchainInfo()).rejects.toThrow(/404/);
  });
});

describe('tonweb', () => {
  it('reads accounts and the head', async () => {
    current = states['active']!;
    const text = address.toString();
    expect(await provider().getBalance(text)).toBe('2099997242');
    expect(await provider().getAddressInfo(text)).toMatchObject({ '@type': 'raw.fullAccountState', state: 'active' });
    expect(await provider().getMasterchainInfo()).toMatchObject({ '@type': 'blocks.masterchainInfo' });
  });

  it('gets an error with the reason', async () => {
    await expect(provider().getAddressInfo('x')).rejects.toBe('failed to parse address');
  });
});
