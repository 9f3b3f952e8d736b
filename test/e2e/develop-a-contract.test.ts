import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '#test/support/service-flags.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';

const page = readFileSync(join(projectRoot, 'service/devchain/README.md'), 'utf8');

/** Blocks of code of a language, in their order. */
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);

let service: ServiceProcess;
let folder: string;

beforeAll(async () => {
  service = await startService(['--block-time', 'on-demand', '--index']);
  folder = mkdtempSync(join(tmpdir(), 'tonplane-develop-'));
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const names = ['counter.mjs', 'deploy.mjs', 'counter.test.mjs'];
  blocksOf('js').forEach((text, index) => writeFileSync(join(folder, names[index]!), here(text)));
});
afterAll(async () => {
  await service.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** The text with the addresses of this test's network. */
const here = (text: string): string =>
  text.replaceAll('http://127.0.0.1:8081', service.url).replaceAll('http://127.0.0.1:8082', service.internalUrl);

const node = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { cwd: folder })).stdout;

const curl = async (line: string): Promise<Record<string, { type?: string }[]>> => {
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent`]);
  return JSON.parse(stdout) as Record<string, { type?: string }[]>;
};

const typesOf = async (line: string): Promise<(string | undefined)[]> =>
  (await curl(line))['actions']!.map(({ type }) => type);

describe('the page Develop a contract', () => {
  it('has the code that its source was compiled to', () => {
    const boc = readFileSync(join(projectRoot, 'test/vectors/counter/counter.boc'));
    const source = readFileSync(join(projectRoot, 'test/vectors/counter/counter.tolk'), 'utf8');
    expect(blocksOf('js')[0]).toContain(Cell.fromBoc(boc)[0]!.toBoc({ crc32: false }).toString('base64'));
    expect(source).toContain(blocksOf('tolk')[0]);
  });

  it('works word by word: deployment, trace, actions, transactions, and a test that takes everything back', async () => {
    const [, address] = /^(\S+) 5\n$/.exec(await node('deploy.mjs')) ?? [];
    const [, , , curls = ''] = blocksOf('sh');
    expect(curls).toContain(`account=${address}`);
    const [traces, actions, transactions] = here(curls).trim().split('\n');
    // The index is a moment behind a sent message.
    await expect.poll(() => typesOf(actions!)).toContain('call_contract');
    expect(await typesOf(actions!)).toContain('contract_deploy');
    expect((await curl(traces!))['traces']).toHaveLength(1);
    expect((await curl(transactions!))['transactions']).toHaveLength(2);
    expect(await node('--test', 'counter.test.mjs')).toContain('pass 1');
  });
});

const post = async (url: string, body: unknown): Promise<unknown> => {
  const headers = { 'content-type': 'application/json', 'x-api-key': service.key };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
};
const dev = async (method: string, params: object): Promise<Record<string, string>> => {
  const answer = await post(`${service.internalUrl}/dev`, { jsonrpc: '2.0', id: 1, method, params });
  return (answer as { result: Record<string, string> }).result;
};
const ask = async <T>(path: string): Promise<T> => (await fetch(`${service.url}/api/v3/${path}`)).json() as Promise<T>;
const supplyOf = async (jetton: string): Promise<string | undefined> => {
  const found = await ask<{ jetton_masters: { total_supply: string }[] }>(`jetton/masters?address=${jetton}`);
  return found.jetton_masters[0]?.total_supply;
};

describe('the answer of a dev method comes when v3 shows its result', () => {
  it('with the supply and the wallets of jettons after each mint, and without them after dev_revert', async () => {
    const status = (await (await fetch(`${service.internalUrl}/status`)).json()) as {
      devchain: { demo: Record<string, string> };
    };
    const jetton = status.devchain.demo['jetton minter']!;
    const { supply: before } = await dev('dev_mintJetton', { jetton, address: jetton, amount: 1 });
    await dev('dev_snapshot', { name: 'before' });
    for (let at = 0; at < 4; at++) {
      const owner = `0:${String(at + 1).repeat(64)}`;
      const { supply } = await dev('dev_mintJetton', { jetton, address: owner, amount: 10 + at });
      const { jetton_wallets: wallets } = await ask<{ jetton_wallets: { balance: string }[] }>(
        `jetton/wallets?owner_address=${owner}`,
      );
      expect([await supplyOf(jetton), wallets.map(({ balance }) => balance)]).toEqual([supply, [String(10 + at)]]);
      await dev('dev_revert', { snapshot: 'before' });
      expect(await supplyOf(jetton)).toBe(before);
    }
  });

  it('with the actions of a payment from the faucet', async () => {
    for (let at = 0; at < 4; at++) {
      const address = `0:${String(at + 5).repeat(64)}`;
      await post(`${service.url}/faucet`, { address, amount: 1 });
      const { actions } = await ask<{ actions: unknown[] }>(`actions?account=${address}`);
      expect(actions).toHaveLength(1);
    }
  });
});
