import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Address, internal, toNano } from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey } from '@ton/crypto';
import { TonClient, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { welcomeJson } from '#service/main/network/welcome.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';

type Welcome = ReturnType<typeof welcomeJson>;

const receiver = Address.parse(`0:${'cd'.repeat(32)}`);
const bob = `-1:${'be'.repeat(32)}`;

let service: ServiceProcess;
let welcome: Welcome;
let client: TonClient;
let folder: string;
let alice: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-accounts-'));
  alice = await mnemonicNew(24);
  const file = join(folder, 'accounts.json');
  const accounts = { alice: { mnemonic: alice.join(' '), balance: '12.5' }, bob: { address: bob } };
  writeFileSync(file, JSON.stringify(accounts));
  service = await startService(['--no-demo', '--block-time', 'on-demand', '--json', '--accounts', file]);
  welcome = JSON.parse(service.stdout()) as Welcome;
  client = new TonClient({ endpoint: `${service.url}/api/v2/jsonRPC` });
});
afterAll(async () => {
  await service.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function walletsOf(mnemonic: string): Promise<(WalletContractV4 | WalletContractV5R1)[]> {
  const { publicKey } = await mnemonicToPrivateKey(mnemonic.split(' '));
  const own = {
    networkGlobalId: welcome.globalId,
    context: { workchain: 0, walletVersion: 'v5r1', subwalletNumber: 0 },
  };
  return [
    WalletContractV5R1.create({ publicKey, walletId: own as { networkGlobalId: number } }),
    WalletContractV4.create({ workchain: 0, publicKey }),
    WalletContractV5R1.create({ publicKey }),
  ];
}

describe('a private network on loopback', () => {
  it('answers callers without a key as often as they ask', async () => {
    const url = `${service.url}/api/v2/getMasterchainInfo`;
    const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(url)));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(welcome.keyRequired).toBe(false);
  });

  it('has ten mnemonics, each of which @ton/ton derives the printed, funded and deployed wallets from', async () => {
    const startup = welcome.accounts.filter(({ name }) => name.startsWith('wallet '));
    expect(startup).toHaveLength(10);
    for (const { mnemonic, addresses, balance } of startup) {
      const wallets = await walletsOf(mnemonic!);
      expect(addresses.map(({ address }) => address)).toEqual(
        wallets.map(({ address }) => address.toString({ bounceable: false })),
      );
      for (const wallet of wallets) {
        expect([await client.open(wallet).getBalance(), await client.isContractDeployed(wallet.address)]).toEqual([
          BigInt(balance),
          true,
        ]);
      }
    }
  });

  it('spends from a startup wallet of either version', async () => {
    const { mnemonic } = welcome.accounts[3]!;
    const { secretKey } = await mnemonicToPrivateKey(mnemonic!.split(' '));
    const before = await client.getBalance(receiver);
    for (const wallet of (await walletsOf(mnemonic!)).map((one) => client.open(one))) {
      const messages = [internal({ to: receiver, value: '1', bounce: false })];
      const transfer = { seqno: await wallet.getSeqno(), secretKey, messages, sendMode: 3 };
      await (wallet.sendTransfer as (given: typeof transfer) => Promise<void>)(transfer);
      await expect.poll(() => wallet.getSeqno()).toBe(transfer.seqno + 1);
    }
    await expect.poll(async () => (await client.getBalance(receiver)) - before).toBeGreaterThan(toNano('2.99'));
  });

  it('funds the accounts of --accounts, by mnemonic or by address', async () => {
    expect(await client.getBalance((await walletsOf(alice.join(' ')))[1]!.address)).toBe(toNano('12.5'));
    expect(await client.getBalance(Address.parse(bob))).toBe(toNano('1000'));
  });
});

describe('the lite server of npm start', () => {
  it('has the same key at every start, and the port that is named', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => holder.once('listening', done));
    const { port } = holder.address() as AddressInfo;
    await new Promise((done) => holder.close(done));
    const second = await startService(['--no-demo', '--json', '--lite-server-port', `${port}`]);
    const { liteServer } = JSON.parse(second.stdout()) as Welcome;
    await second.stop();
    expect(liteServer).toEqual({ host: '127.0.0.1', port, publicKey: welcome.liteServer.publicKey });
  });
});

describe('a listener that other machines reach', () => {
  it('asks for the key', async () => {
    const open = await startService(['--no-demo', '--host', '0.0.0.0']);
    const statuses: number[] = [];
    for (let asked = 0; asked < 3; asked++) {
      statuses.push((await fetch(`${open.url.replace('0.0.0.0', '127.0.0.1')}/api/v2/getMasterchainInfo`)).status);
    }
    await open.stop();
    expect(statuses).toContain(429);
  });
});

describe('npm start', () => {
  it.each(['--port', '--internal-port', '--lite-server-port'])(
    'says in one sentence that %s is taken',
    async (option) => {
      const holder = createServer().listen(0, '127.0.0.1');
      await new Promise((done) => holder.once('listening', done));
      const { port } = holder.address() as AddressInfo;
      const others = ['--port', '--internal-port', '--lite-server-port'].filter((one) => one !== option);
      const { code, stdout, stderr } = await runToEnd([
        ...others.flatMap((one) => [one, '0']),
        option,
        `${port}`,
        '--data',
        join(folder, 'taken'),
      ]);
      holder.close();
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: '',
        stderr: `tonplane: ${option}: port ${port} is in use; give another one, or 0 for a free one\n`,
      });
    },
  );
});
