import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Address, beginCell, internal } from '@ton/core';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { testWalletAt } from '#test/support/wallet.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** The project's own recording: its contracts are known by name. */
const recordingDir = join(import.meta.dirname, '../vectors/realnet');
const known = JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Readonly<
  Record<string, { readonly address: string }>
>;
const addressOf = (name: string): string => known[name]!.address;

/** Both have nothing but a library's hash for code. */
const [order, tokenWallet] = ['ms_order_1', 'stable_wallet_w7'].map(addressOf) as [string, string];
const orderLibrary = '6305a8061c856c2ccf05dcb0df5815c71475870567cab5f049e340bcf59251f3';

/** The second signer of three; the order needs two and has one. */
const signer = testWalletAt(Address.parse(addressOf('w4')), Buffer.alloc(32, 'w4'));

type Ran = { readonly exit_code: number; readonly stack: readonly (readonly [string, unknown])[] };
type OrderData = { readonly approvals: number; readonly isSent: boolean };

async function post<T>(service: ServiceProcess, url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { result, error } = (await response.json()) as { result?: T; error?: unknown };
  if (result === undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return result;
}

describe('contracts of which a fork has only a hash for code', () => {
  let origin: Devchain;
  let folder: string;
  let file: string;
  let fork: ServiceProcess;

  const command = (): string[] => [
    '--fork',
    file,
    '--block-time',
    'on-demand',
    '--no-demo',
    '--data',
    join(folder, 'data'),
  ];

  beforeAll(async () => {
    const dependencies = {
      chain: await recordedChain(recordingDir),
      logger: pino({ level: 'silent' }),
      register: new Registry(),
    };
    origin = await createDevchain({ recordingDir, paceSeconds: 0, servers: [{}] }, dependencies);
    folder = mkdtempSync(join(tmpdir(), 'tonplane-fork-libraries-'));
    file = join(folder, 'global.config.json');
    writeFileSync(file, JSON.stringify(origin.globalConfig()));
    fork = await startService(command());
  });
  afterAll(async () => {
    await fork.stop('SIGKILL');
    await origin.close();
    rmSync(folder, { recursive: true });
  });

  const run = (address: string, method: string, service = fork): Promise<Ran> =>
    post(service, `${service.url}/api/v2/runGetMethod`, { address, method, stack: [] });

  async function readOrder(service = fork): Promise<OrderData> {
    const { exit_code: exitCode, stack } = await run(order, 'get_order_data', service);
    expect(exitCode).toBe(0);
    return { isSent: Number(stack[3]![1]) !== 0, approvals: Number(stack[6]![1]) };
  }

  const dev = (method: string, params: object): Promise<unknown> =>
    post(fork, `${fork.internalUrl}/dev`, { jsonrpc: '2.0', id: 1, method, params });

  it('answer get-methods at the first question', async () => {
    expect(await readOrder()).toEqual({ isSent: false, approvals: 1 });
    expect(await run(tokenWallet, 'get_wallet_data')).toMatchObject({ exit_code: 0 });
    const answer = await fetch(`${fork.url}/api/v2/getLibraries?libraries=${orderLibrary}`, {
      headers: { 'x-api-key': fork.key },
    });
    expect(await answer.json()).toMatchObject({ result: { result: [{ hash: expect.any(String) as string }] } });
  });

  it('answer them in a fork of one lite server too, which proves nothing', async () => {
    const { host, port, publicKey } = origin.liteServers[0]!;
    const spec = `${host}:${port}:${publicKey.toString('base64')}`;
    const other = await startService(['--fork', spec, '--block-time', 'on-demand', '--no-demo']);
    onTestFinished(async () => void (await other.stop('SIGKILL')));
    expect(await readOrder(other)).toEqual({ isSent: false, approvals: 1 });
  });

  it('execute messages, and go on in a stored fork when the other network is away', async () => {
    const [code, data] = [signer.init.code, signer.init.data].map((cell) => cell.toBoc().toString('base64'));
    await dev('dev_setCode', { address: addressOf('w4'), code });
    await dev('dev_setData', { address: addressOf('w4'), data });
    // `approve#a762230f query_id:uint64 signer_index:uint8`.
    const approve = beginCell().storeUint(0xa762230f, 32).storeUint(7, 64).storeUint(1, 8).endCell();
    const message = internal({ to: Address.parse(order), value: 1_000_000_000n, bounce: true, body: approve });
    await run(addressOf('multisig'), 'get_multisig_data');
    const boc = signer.send(0, [message]).toString('base64');
    await post(fork, `${fork.url}/api/v2/sendBoc`, { boc });
    const done = { isSent: true, approvals: 2 };
    await expect.poll(() => readOrder(), { interval: 200 }).toEqual(done);

    await fork.stop('SIGKILL');
    await origin.close();
    fork = await startService(command());
    expect(await readOrder()).toEqual(done);
    expect(await run(tokenWallet, 'get_wallet_data')).toMatchObject({ exit_code: 0 });
  });
});
