import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Chain } from '#service/devchain/chain/chain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import { recordingDirs } from '../support/fixtures.ts';
import { startPrivateNetwork } from '../support/private-network.ts';
import { freePorts, runToEnd, startService, type ServiceProcess } from '../support/service-process.ts';
import { knownAccounts } from '../support/v2-scenes.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type Account = { readonly balance: string; readonly code: string; readonly state: string };

/** A wallet, an account that nobody has, and one that is never asked for while the other network can be reached. */
const accounts = knownAccounts().map(({ address }) => address);
const wallet = knownAccounts().find(({ what }) => what.startsWith('wallet'))!.address;
const absent = `0:${'7e'.repeat(32)}`;
const unread = `0:${'7f'.repeat(32)}`;

/** Standard error of a process that does not start. */
async function refused(args: readonly string[]): Promise<string> {
  const { code, stderr } = await runToEnd([...args, ...freePorts, '--no-index']);
  expect(code).toBe(1);
  return stderr;
}

describe('a fork that is stored in a folder', () => {
  let chain: Chain;
  let origin: Devchain;
  let folder: string;
  let file: string;
  let data: string;
  let fork: ServiceProcess | undefined;

  /** The other network, each time at the same port with the same key. */
  async function startOrigin(port = 0): Promise<void> {
    const dependencies = { chain, logger: pino({ level: 'silent' }), register: new Registry() };
    const servers = [{ port, seed: Buffer.alloc(32, 5) }];
    origin = await createDevchain({ recordingDir: recordingDirs()[0]!, paceSeconds: 0, servers }, dependencies);
  }

  const command = (spec = file): string[] => ['--fork', spec, '--block-time', 'on-demand', '--data', data];

  async function restart(signal: NodeJS.Signals, spec?: string): Promise<void> {
    await fork?.stop(signal);
    fork = await startService(command(spec));
  }

  async function ask<T>(path: string, body?: object): Promise<T> {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${fork!.url}${path}`, {
      ...init,
      headers: { 'x-api-key': fork!.key, 'content-type': 'application/json' },
    });
    const { result, error } = (await response.json()) as { result?: T; error?: string };
    if (result === undefined) throw new Error(`${response.status} ${error}`);
    return result;
  }

  const balance = async (address: string): Promise<bigint> =>
    BigInt(await ask<string>(`/api/v2/getAddressBalance?address=${encodeURIComponent(address)}`));
  const read = (address: string): Promise<Account> =>
    ask(`/api/v2/getAddressInformation?address=${encodeURIComponent(address)}`);

  async function dev(method: string, params: object): Promise<{ readonly snapshot: number }> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(`${fork!.internalUrl}/dev`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ((await response.json()) as { result: { snapshot: number } }).result;
  }

  async function forkStatus(): Promise<{ seqno: number; fork: { seqno: number; accounts: number } }> {
    const status = (await (await fetch(`${fork!.internalUrl}/status`)).json()) as { devchain: never };
    return status.devchain;
  }

  beforeAll(async () => {
    chain = await recordedChain(recordingDirs()[0]!);
    await startOrigin();
    folder = mkdtempSync(join(tmpdir(), 'tonplane-kept-fork-'));
    [file, data] = [join(folder, 'global.config.json'), join(folder, 'data')];
    writeFileSync(file, JSON.stringify(origin.globalConfig()));
    fork = await startService(command());
  });
  afterAll(async () => {
    await fork?.stop('SIGKILL');
    await origin.close();
    rmSync(folder, { recursive: true });
  });

  it('goes on with what it made and what it read, whether the other network is there or not', async () => {
    const before = await Promise.all(accounts.slice(0, 4).map(read));
    await ask('/faucet', { address: wallet, amount: 7 });
    expect(await balance(absent)).toBe(0n);
    const rich = await balance(wallet);
    const told = await forkStatus();
    expect(told.fork.accounts).toBeGreaterThanOrEqual(4);

    await restart('SIGKILL');
    expect(await forkStatus()).toMatchObject({ seqno: told.seqno, fork: told.fork });
    expect(await balance(wallet)).toBe(rich);

    await origin.close();
    await restart('SIGINT');
    expect(await Promise.all(accounts.slice(0, 4).map(read))).toMatchObject(
      before.map(({ code, state }) => ({ code, state })),
    );
    await ask('/faucet', { address: absent, amount: 2 });
    expect(await balance(absent)).toBe(2_000_000_000n);
    expect(await balance(wallet)).toBe(rich);
    // Nobody can say what was never read.
    await expect(balance(unread)).rejects.toThrow('was never read from the forked network');
    await expect(ask('/faucet', { address: unread, amount: 1 })).rejects.toThrow('503 account 0:7f7f');

    await startOrigin(origin.liteServers[0]!.port);
    await expect.poll(() => balance(unread).catch(() => -1n), { interval: 500 }).toBe(0n);
    await ask('/faucet', { address: unread, amount: 1 });
    expect(await balance(unread)).toBe(1_000_000_000n);
  });

  it('goes back to a snapshot without the other network, and stays there', async () => {
    const address = accounts[5]!;
    const { snapshot } = await dev('dev_snapshot', {});
    const before = await read(address);
    await dev('dev_setBalance', { address, balance: '1' });
    expect(await balance(address)).toBe(1n);
    await origin.close();
    await dev('dev_revert', { snapshot });
    expect(await read(address)).toMatchObject({ balance: before.balance, code: before.code, state: before.state });

    await restart('SIGKILL');
    expect(await read(address)).toMatchObject({ balance: before.balance, code: before.code, state: before.state });
    await startOrigin(origin.liteServers[0]!.port);
  });

  it('is not taken for a copy of another network or of another block', async () => {
    await fork!.stop();
    const { seqno } = chain.masterchain(chain.lastSeqno)!.id;
    const other = await startPrivateNetwork();
    const otherFile = join(folder, 'other.json');
    writeFileSync(otherFile, JSON.stringify(other.globalConfig()));
    const { host, port, publicKey } = other.liteServers[0]!;
    const another = '--fork: the network in --data does not fit:';
    expect(await refused(command(otherFile))).toContain(`${another} it is a copy of the network with zerostate`);
    expect(await refused(command(`${host}:${port}:${publicKey.toString('base64')}`))).toContain(another);
    expect(await refused(command(`${file}@${seqno - 1}`))).toContain(
      `${another} it began at block ${seqno}; expected @${seqno} or no @SEQNO, got @${seqno - 1}`,
    );
    expect(await refused(['--data', data])).toContain(`${another} it is a copy of a network at block ${seqno}`);
    await other.close();
    fork = await startService(command(`${file}@${seqno}`));
    expect(await balance(absent)).toBe(2_000_000_000n);
  });

  it('a fork does not start in the folder of a network that is no fork', async () => {
    const own = join(folder, 'own');
    const network = await startService(['--block-time', 'on-demand', '--no-demo', '--data', own]);
    await network.stop();
    const { code, stderr } = await runToEnd(['--fork', file, '--data', own, ...freePorts]);
    expect(code).toBe(1);
    expect(stderr).toContain('it is no copy of a network; expected no --fork, or another --data');
  });
});
