import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { knownAccounts } from '#test/support/v2-scenes.ts';

type Account = { readonly balance: string; readonly code: string; readonly data: string; readonly state: string };
type Transaction = { readonly prev_trans_lt?: string; readonly transaction_id: { readonly lt: string } };

describe('a fork of another network', () => {
  let origin: ApiUnderTest;
  let fork: ServiceProcess;
  let folder: string;
  let seqno: number;

  beforeAll(async () => {
    origin = await startApiUnderTest({ behindBlocks: 0 });
    seqno = origin.network.chain.lastSeqno - 50;
    folder = mkdtempSync(join(tmpdir(), 'tonplane-fork-'));
    const file = join(folder, 'global.config.json');
    writeFileSync(file, JSON.stringify(origin.network.globalConfig()));
    fork = await startService(['--fork', `${file}@${seqno}`, '--block-time', 'on-demand']);
  });
  afterAll(async () => {
    await fork.stop('SIGKILL');
    await origin.close();
    rmSync(folder, { recursive: true });
  });

  async function request<T>(url: string, body?: object): Promise<T> {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(url, {
      ...init,
      headers: { 'x-api-key': fork.key, 'content-type': 'application/json' },
    });
    return ((await response.json()) as { result: T }).result;
  }

  const ask = <T>(path: string, body?: object): Promise<T> => request(`${fork.url}${path}`, body);
  const dev = (method: string, params: object): Promise<{ readonly snapshot: number }> =>
    request(`${fork.internalUrl}/dev`, { jsonrpc: '2.0', id: 1, method, params });

  const accounts = knownAccounts().map(({ address }) => address);

  it('has the accounts of that network at that block, at the first question', async () => {
    expect(accounts.length).toBeGreaterThan(3);
    for (const address of accounts.slice(0, 8)) {
      const path = `getAddressInformation?address=${encodeURIComponent(address)}`;
      const { balance, code, data, state } = (await origin.get(`${path}&seqno=${seqno}`)).body['result'] as Account;
      expect(await ask(`/api/v2/${path}`)).toMatchObject({ balance, code, data, state });
    }
  });

  it('goes on from them: a transaction follows the last one of the other network', async () => {
    const wallet = knownAccounts().find(({ what }) => what.startsWith('wallet'))!.address;
    const place = `address=${encodeURIComponent(wallet)}`;
    const before = await ask<{ balance: string; last_transaction_id: { lt: string } }>(
      `/api/v2/getAddressInformation?${place}`,
    );
    await ask('/faucet', { address: wallet, amount: 7 });
    const [newest] = await ask<Transaction[]>(`/api/v2/getTransactions?${place}&limit=1`);
    expect(BigInt(newest!.transaction_id.lt)).toBeGreaterThan(BigInt(before.last_transaction_id.lt));
    const after = BigInt(await ask<string>(`/api/v2/getAddressBalance?${place}`));
    expect(after).toBeGreaterThan(BigInt(before.balance) + 6_900_000_000n);
  });

  it('has its configuration, with validators of its own', async () => {
    for (const param of [17, 20, 21, 25]) {
      const path = `getConfigParam?config_id=${param}`;
      const { config } = (await origin.get(`${path}&seqno=${seqno}`)).body['result'] as { config: { bytes: string } };
      expect(await ask(`/api/v2/${path}`)).toMatchObject({ config: { bytes: config.bytes } });
    }
  });

  it('knows that an account is not there, and makes it like any other network', async () => {
    const address = `0:${'7e'.repeat(32)}`;
    expect(await ask(`/api/v2/getAddressBalance?address=${address}`)).toBe('0');
    await ask('/faucet', { address, amount: 2 });
    expect(await ask(`/api/v2/getAddressBalance?address=${address}`)).toBe('2000000000');
  });

  it('goes back to a snapshot with accounts that came over since, as the other network has them', async () => {
    const { address } = knownAccounts().findLast(({ what }) => what.startsWith('wallet'))!;
    const path = `getAddressInformation?address=${encodeURIComponent(address)}`;
    const { balance, code, data, state } = (await origin.get(`${path}&seqno=${seqno}`)).body['result'] as Account;
    const { snapshot } = await dev('dev_snapshot', {});
    await ask('/faucet', { address, amount: 7 });
    await dev('dev_setBalance', { address, balance: '1' });
    expect(await ask(`/api/v2/${path}`)).toMatchObject({ balance: '1' });
    await dev('dev_revert', { snapshot });
    expect(await ask(`/api/v2/${path}`)).toMatchObject({ balance, code, data, state });
  });

  it('tells in the status how many accounts came over', async () => {
    const status = (await (await fetch(`${fork.internalUrl}/status`)).json()) as { devchain: { fork: object } };
    expect(status.devchain.fork).toMatchObject({ seqno, accounts: expect.any(Number) as number });
  });

  it('is made from one lite server too, by its address and key', async () => {
    const { host, port, publicKey } = origin.network.liteServers[0]!;
    const spec = `${host}:${port}:${publicKey.toString('base64')}@${seqno}`;
    const other = await startService(['--fork', spec, '--block-time', 'on-demand']);
    onTestFinished(async () => void (await other.stop('SIGKILL')));
    const path = `getAddressInformation?address=${encodeURIComponent(accounts[0]!)}`;
    const { balance, data } = (await origin.get(`${path}&seqno=${seqno}`)).body['result'] as Account;
    const answer = await fetch(`${other.url}/api/v2/${path}`, { headers: { 'x-api-key': other.key } });
    expect(await answer.json()).toMatchObject({ result: { balance, data } });
  });
});
