import { execFile } from 'node:child_process';
import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

import { Address, beginCell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { serviceProgram } from '#test/support/programs.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';

let service: ServiceProcess;
let accounts = 0;

beforeAll(async () => {
  service = await startService(['--no-demo', '--block-time', 'on-demand', '--validators', '4', '--host', '0.0.0.0']);
});
afterAll(() => service.stop('SIGKILL'));

/** An address that nobody used yet. */
function freshAccount(workchain = 0): string {
  return `${workchain}:${(++accounts).toString(16).padStart(64, '0')}`;
}

async function get(path: string): Promise<unknown> {
  const response = await fetch(`${service.url}/api/v2/${path}`, { headers: { 'x-api-key': service.key } });
  return ((await response.json()) as { result: unknown }).result;
}

const balanceOf = (address: string): Promise<unknown> =>
  get(`getAddressBalance?address=${encodeURIComponent(address)}`);

async function headSeqno(): Promise<number> {
  return ((await get('getMasterchainInfo')) as { last: { seqno: number } }).last.seqno;
}

type RpcAnswer = { readonly result?: Record<string, unknown>; readonly error?: { code: number; message: string } };

async function dev(method: string, params: unknown = {}): Promise<RpcAnswer> {
  return (await (await ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).json()) as RpcAnswer;
}

async function faucet(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.url}/faucet`, {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** What the internal port answers to the headers of a long body, of which nothing is sent. */
function firstLine(bodyBytes: number): Promise<string> {
  const { hostname, port } = new URL(service.internalUrl);
  const { promise, resolve: settle, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  socket.once('data', (data) => {
    socket.destroy();
    settle(data.toString().split('\r\n')[0]!);
  });
  socket.once('error', reject);
  socket.write(
    `POST /dev HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${bodyBytes}\r\ncontent-type: application/json\r\n\r\n`,
  );
  return promise;
}

/** Status of a GET at the internal port under a host name. */
function statusFor(host: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(service.internalUrl);
  const { promise, resolve: settle, reject } = Promise.withResolvers<number | undefined>();
  const sent = httpGet({ hostname, port, path, headers: { host }, agent: false }, (answer) => {
    answer.resume();
    settle(answer.statusCode);
  });
  sent.once('error', reject);
  return promise;
}

const json = { 'content-type': 'application/json' };

const ask = (body: string, headers: Record<string, string> = json): Promise<Response> =>
  fetch(`${service.internalUrl}/dev`, { method: 'POST', headers, body });

/** The command, run to its end, in a folder without a network of its own. */
const runFund = (...args: string[]) =>
  promisify(execFile)(process.execPath, [serviceProgram, 'dev', 'fund', ...args], {
    cwd: tmpdir(),
  });

describe('the faucet', () => {
  it('answers when the money is there for the next read, in every form of address', async () => {
    const raw = freshAccount();
    const address = Address.parse(raw);
    const forms = [
      raw,
      raw.toUpperCase(),
      address.toString(),
      address.toString({ bounceable: false, testOnly: true, urlSafe: false }),
    ];
    let expected = 0n;
    for (const form of forms) {
      const { status, body } = await faucet({ address: form, amount: '0.5' });
      expect([status, body]).toMatchObject([200, { ok: true, result: { amount: '500000000' } }]);
      expected += 500_000_000n;
      // Storage costs a nanoton now and then.
      expect(expected - BigInt((await balanceOf(raw)) as string)).toBeLessThan(10n);
    }
  });

  it('makes one block for a message, and none otherwise', async () => {
    const before = await headSeqno();
    await new Promise((done) => setTimeout(done, 1500));
    expect(await headSeqno()).toBe(before);
    await faucet({ address: freshAccount(), amount: 1 });
    expect(await headSeqno()).toBe(before + 1);
  });

  it('the faucet pays many requests at once, four in a message', async () => {
    const all = Array.from({ length: 12 }, () => freshAccount());
    const before = await headSeqno();
    const answers = await Promise.all(all.map((address) => faucet({ address, amount: 2 })));
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(await Promise.all(all.map(balanceOf))).toEqual(all.map(() => '2000000000'));
    // Three, unless the requests come far apart on a busy machine.
    expect((await headSeqno()) - before).toBeLessThan(all.length);
  });

  it('gives to accounts of the masterchain, whose blocks follow by themselves', async () => {
    const address = freshAccount(-1);
    await faucet({ address, amount: 3 });
    await expect.poll(() => balanceOf(address)).toBe('3000000000');
  });

  it.each([
    [{}, 'address: expected an account address, raw (0:64 hex digits) or friendly (48 characters)'],
    [{ address: `5:${'0'.repeat(64)}`, amount: 1 }, 'address: expected one of workchain 0 or -1, got workchain 5'],
    [
      { address: `0:${'0'.repeat(64)}` },
      'amount: expected TON (not nanotons), above 0, at most 1000000, got undefined',
    ],
    ...[0, -1, '1e3', 1_000_001, '0.0000000001', '1,5'].map((amount): [object, string] => [
      { address: `0:${'0'.repeat(64)}`, amount },
      `amount: expected TON (not nanotons), above 0, at most 1000000, got ${amount}`,
    ]),
    [[], 'address: expected an account address, raw (0:64 hex digits) or friendly (48 characters)'],
  ])('refuses %j and names the field', async (body, error) => {
    expect(await faucet(body)).toMatchObject({ status: 422, body: { ok: false, error, code: 422 } });
  });

  it('is a command too', async () => {
    const [one, other] = [freshAccount(), freshAccount(-1)];
    const at = ['--internal-url', service.internalUrl];
    const { stdout } = await runFund(one, '1.25', ...at);
    const { amount, seqno } = JSON.parse(stdout) as { amount: string; seqno: number };
    expect(amount).toBe('1250000000');
    expect(seqno).toBeLessThanOrEqual(await headSeqno());
    expect(await balanceOf(one)).toBe('1250000000');
    await expect(runFund(other, '-5', ...at)).rejects.toMatchObject({ code: 2 });
    await expect(runFund(other, 'all', ...at)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('amount: expected TON') as string,
    });
    await expect(runFund(one, '1', '--internal-url', 'http://127.0.0.1:1')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expected a running private network at http://127.0.0.1:1') as string,
    });
  });
});

describe('dev methods', () => {
  it('are at the internal port, which is on loopback whatever --host says, and at no other', async () => {
    expect(new URL(service.internalUrl).hostname).toBe('127.0.0.1');
    expect((await fetch(`${service.url}/dev`, { method: 'POST', body: '{}' })).status).toBe(404);
  });

  it('are out of reach of web pages, which neither send a call nor read a page by a rebound name', async () => {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_mine' });
    const before = await headSeqno();
    expect((await ask(call, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await ask(call, { ...json, origin: 'https://page.example' })).status).toBe(403);
    for (const path of ['/dev', '/status', '/metrics', '/global.config.json']) {
      expect([path, await statusFor('rebound.example', path)]).toEqual([path, 421]);
      expect([path, await statusFor('localhost', path)]).toEqual([path, path === '/dev' ? 404 : 200]);
    }
    expect(await headSeqno()).toBe(before);
  });

  it('set balance, code and data so that proved reads see them at once', async () => {
    const address = freshAccount();
    expect(await dev('dev_setBalance', { address, balance: '123456789' })).toHaveProperty('result');
    expect(await balanceOf(address)).toBe('123456789');
    // SETCP0; a get-method that returns 7 whatever it is asked: DROP, 7 PUSHINT.
    const code = beginCell().storeUint(0xff00, 16).storeUint(0x30, 8).storeUint(0x77, 8).endCell();
    const data = beginCell().storeUint(42, 32).endCell();
    expect(await dev('dev_setCode', [address, code.toBoc().toString('base64')])).toHaveProperty('result');
    expect(await dev('dev_setData', { address, data: data.toBoc().toString('base64') })).toHaveProperty('result');
    const shown = (await get(`getAddressInformation?address=${address}`)) as Record<string, string>;
    expect(shown).toMatchObject({ state: 'active', balance: '123456789' });
    expect(shown['data']).toBe(data.toBoc().toString('base64'));
    const run = await fetch(`${service.url}/api/v2/runGetMethod`, {
      method: 'POST',
      headers: { 'x-api-key': service.key },
      body: JSON.stringify({ address, method: 'any', stack: [] }),
    });
    expect(await run.json()).toMatchObject({ ok: true, result: { exit_code: 0, stack: [['num', '0x7']] } });
  });

  it('dev_mine, dev_advance and dev_setTime move the network forward in blocks and time', async () => {
    const { result: before } = await dev('dev_status');
    const { result: mined } = await dev('dev_mine', { blocks: 3 });
    expect(mined!['seqno']).toBe((before!['seqno'] as number) + 3);
    const { result: later } = await dev('dev_advance', { seconds: 3600 });
    expect(later!['utime'] as number).toBeGreaterThanOrEqual((before!['utime'] as number) + 3600);
    const utime = (later!['utime'] as number) + 86_400;
    expect((await dev('dev_setTime', { utime })).result!['utime']).toBe(utime);
    expect((await dev('dev_setTime', { utime: utime - 10 })).error!.message).toMatch(/^utime: expected a whole number/);
  });

  it('take all accounts back to a snapshot, while blocks and the head of the API only go forward', async () => {
    const [kept, gone] = [freshAccount(), freshAccount()];
    await faucet({ address: kept, amount: 1 });
    const { result } = await dev('dev_snapshot');
    const seqnos = [await headSeqno()];
    await faucet({ address: kept, amount: 10 });
    await faucet({ address: gone, amount: 10 });
    await dev('dev_setBalance', { address: kept, balance: '5' });
    seqnos.push(await headSeqno());
    expect(await dev('dev_revert', { snapshot: result!['snapshot'] })).toHaveProperty('result');
    seqnos.push(await headSeqno());
    expect(await balanceOf(kept)).toBe('1000000000');
    expect(await get(`getAddressState?address=${gone}`)).toBe('uninitialized');
    expect(await get(`getTransactions?address=${kept}&limit=10`)).toHaveLength(1);
    // What was taken back can be done again, and a snapshot can be gone back to again.
    await faucet({ address: gone, amount: 4 });
    expect(await balanceOf(gone)).toBe('4000000000');
    await dev('dev_revert', { snapshot: result!['snapshot'] });
    expect(await get(`getAddressState?address=${gone}`)).toBe('uninitialized');
    seqnos.push(await headSeqno());
    expect(seqnos.toSorted((one, other) => one - other)).toEqual(seqnos);
  });

  it.each<[string, unknown, number, string]>([
    ['dev_nothing', {}, -32601, 'method: expected dev_status, dev_mine'],
    ['dev_mine', { block: 1 }, -32602, 'params: expected blocks, got block'],
    ['dev_mine', [1, 2], -32602, 'params: expected blocks, got 2 values'],
    ['dev_mine', 'one', -32602, 'params: expected blocks, got "one"'],
    ['dev_mine', { blocks: 1001 }, -32602, 'blocks: expected a whole number from 1 to 1000, got 1001'],
    ['dev_advance', {}, -32602, 'seconds: expected a whole number from 0 to 316224000, got nothing'],
    ['dev_revert', { snapshot: 99 }, -32602, 'snapshot: expected one that dev_snapshot gave, got 99'],
    ['dev_setBalance', { address: 'me', balance: '1' }, -32602, 'address: expected an account address'],
    ['dev_setBalance', { address: `0:${'0'.repeat(64)}`, balance: '-1' }, -32602, 'balance: expected nanotons'],
    [
      'dev_setCode',
      { address: `0:${'0'.repeat(64)}`, code: 'aGk=' },
      -32602,
      'code: expected a bag of cells in base64',
    ],
    [
      'dev_setData',
      { address: `0:${'f'.repeat(64)}`, data: 'te6cckEBAQEAAgAAAEysuc0=' },
      -32602,
      'address: expected an account with code',
    ],
    ['dev_fund', { address: `0:${'0'.repeat(64)}`, amount: 0 }, -32602, 'amount: expected TON'],
  ])('%s with %j is refused with the field', async (method, params, code, message) => {
    const { error } = await dev(method, params);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it('answer what is no call, and bound what they read', async () => {
    expect(await (await ask('{')).json()).toMatchObject({ error: { code: -32700 } });
    expect(await (await ask('')).json()).toMatchObject({ error: { code: -32700 } });
    expect(await (await ask('[]')).json()).toMatchObject({ error: { code: -32600 } });
    expect(await firstLine(9 * 1_048_576)).toBe('HTTP/1.1 413 Payload Too Large');
  });

  it('show in the status what the network does', async () => {
    const status = (await (await fetch(`${service.internalUrl}/status`)).json()) as Record<string, unknown>;
    expect(status['devchain']).toMatchObject({ kind: 'private', validators: 4, waitingMessages: 0 });
  });
});
