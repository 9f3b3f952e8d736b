import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freePorts, runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';
import { createDatabase } from '#test/support/stores.ts';

type Transaction = { readonly hash: string; readonly account: string; readonly mc_block_seqno: number };
type Ends = { readonly first: { readonly seqno: number }; readonly last: { readonly seqno: number } };

const receiver = `0:${'5A'.repeat(32)}`;
/** A block with a transfer is indexed within a second or two of a busy machine. */
const soon = { timeout: 120_000, interval: 100 } as const;

async function ask<T>({ url, key }: ServiceProcess, path: string): Promise<T> {
  return (await (await fetch(`${url}/api/v3/${path}`, { headers: { 'x-api-key': key } })).json()) as T;
}

async function indexOf({ internalUrl }: ServiceProcess): Promise<Record<string, unknown> | undefined> {
  const status = (await (await fetch(`${internalUrl}/status`)).json()) as { index?: Record<string, unknown> };
  return status.index;
}

async function transactionsOf(service: ServiceProcess, account: string): Promise<readonly Transaction[]> {
  return (await ask<{ transactions: readonly Transaction[] }>(service, `transactions?account=${account}`)).transactions;
}

async function fund({ url, key }: ServiceProcess): Promise<void> {
  const body = JSON.stringify({ address: receiver, amount: 1 });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/faucet`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
}

describe('npm start', () => {
  let service: ServiceProcess;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-indexed-'));
    service = await startService(['--index', '--block-time', '0.4', '--data', folder]);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true });
  });

  it('prints where v3 is, and one command that works', async () => {
    const text = service.stdout();
    expect(text).toContain(`${service.url}/api/v3\n`);
    const commands = [...text.matchAll(/^.*curl .*'(http:[^']+)'/gm)].map(([, url]) => url!);
    expect(commands).toHaveLength(1);
    for (const url of [...commands, `${service.url}/api/v3/masterchainInfo`]) {
      const answer = await fetch(url);
      expect({ url, status: answer.status }).toEqual({ url, status: 200 });
    }
  });

  it('has the demonstration in its index, from the first block on', async () => {
    await expect.poll(async () => (await indexOf(service))?.['state'], soon).toBe('Live');
    expect((await ask<Ends>(service, 'masterchainInfo')).first.seqno).toBe(1);
    const status = (await (await fetch(`${service.internalUrl}/status`)).json()) as {
      devchain: { demo: Record<string, string> };
    };
    for (const what of ['wallet v4r2', 'jetton minter', 'NFT collection']) {
      const found = await transactionsOf(service, status.devchain.demo[what] ?? '');
      expect({ what, found: found.length > 0 }).toEqual({ what, found: true });
    }
  });

  it('tells what the contracts of the demonstration are, and what was done with them', async () => {
    const status = (await (await fetch(`${service.internalUrl}/status`)).json()) as {
      devchain: { demo: Record<string, string> };
    };
    const { demo } = status.devchain;
    const lists: readonly (readonly [list: string, path: string, atLeast: number])[] = [
      ['jetton_masters', `jetton/masters?address=${demo['jetton minter']}`, 1],
      ['jetton_wallets', `jetton/wallets?jetton_address=${demo['jetton minter']}`, 3],
      ['jetton_transfers', `jetton/transfers?jetton_master=${demo['jetton minter']}`, 2],
      ['jetton_burns', `jetton/burns?jetton_master=${demo['jetton minter']}`, 1],
      ['nft_collections', `nft/collections?collection_address=${demo['NFT collection']}`, 1],
      ['nft_items', `nft/items?collection_address=${demo['NFT collection']}`, 2],
      ['nft_transfers', `nft/transfers?item_address=${demo['NFT item']}`, 1],
      ['records', 'dns/records?domain=tonplane.ton', 1],
      ['records', `dns/records?wallet=${demo['wallet v4r2']}`, 1],
      ['multisigs', `multisig/wallets?address=${demo['multisig']}`, 1],
      ['orders', `multisig/orders?multisig_address=${demo['multisig']}&parse_actions=true`, 1],
      ['vesting_contracts', `vesting?contract_address=${demo['vesting wallet']}`, 1],
      ['actions', 'actions?action_type=jetton_transfer', 2],
      ['actions', 'actions?action_type=jetton_burn', 1],
      ['actions', 'actions?action_type=nft_mint', 2],
      ['actions', 'actions?action_type=multisig_create_order', 1],
    ];
    for (const [list, path, atLeast] of lists) {
      const count = async (): Promise<number> =>
        (await ask<Record<string, readonly unknown[]>>(service, path))[list]?.length ?? 0;
      await expect.poll(count, { ...soon, message: path }).toBeGreaterThanOrEqual(atLeast);
    }
  });

  it('shows a transfer of the faucet to the next read', async () => {
    const before = (await transactionsOf(service, receiver)).length;
    await fund(service);
    expect((await transactionsOf(service, receiver)).length).toBe(before + 1);
  });

  it('tells how far the index is: in the status, as metrics, and as a page', async () => {
    expect(await indexOf(service)).toMatchObject({
      state: expect.stringMatching(/^(Live|CatchingUp)$/) as string,
      headSeqno: expect.any(Number) as number,
      lagBlocks: expect.any(Number) as number,
      text: expect.stringContaining('index ') as string,
      troubles: [],
    });
    expect(await (await fetch(`${service.internalUrl}/metrics`)).text()).toMatch(/^ton_indexer_head_seqno [1-9]/m);
    expect(await (await fetch(`${service.internalUrl}/status.html`)).text()).toContain('<th>index</th>');
  });

  it('stores complete traces as they are shown, and answers with those', async () => {
    const metrics = async (): Promise<string> => (await fetch(`${service.internalUrl}/metrics`)).text();
    await expect.poll(metrics, soon).toMatch(/^ton_interpreter_stored_traces_total [1-9]/m);
    const { traces } = await ask<{ traces: readonly { readonly transactions: object }[] }>(service, 'traces?limit=100');
    expect(traces.every(({ transactions }) => Object.keys(transactions).length > 0)).toBe(true);
    expect(await metrics()).toMatch(/^ton_v3_cache_reads_total\{kind="traces",outcome="stored"\} [1-9]/m);
    expect(await metrics()).toMatch(/^ton_interpreter_stored_traces_failures_total 0$/m);
  });

  it('ends with exit code 0 after Ctrl-C, and its Postgres has ended before', async () => {
    const running = join(folder, 'postgres/data/postmaster.pid');
    expect(existsSync(running)).toBe(true);
    expect((await service.stop('SIGINT')).code).toBe(0);
    expect(existsSync(running)).toBe(false);
  });
});

describe('a stored network', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-indexed-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (): Promise<ServiceProcess> =>
    startService(['--index', '--no-demo', '--data', folder, '--block-time', '0.4']);

  it('goes on with its index after a restart and after kill -9, without a gap', async () => {
    let funded = 0;
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGINT'] as const) {
      const service = await start();
      await expect.poll(async () => (await transactionsOf(service, receiver)).length, soon).toBe(funded);
      await fund(service);
      funded++;
      await expect.poll(async () => (await indexOf(service))?.['state'], soon).toBe('Live');
      const { first, last } = await ask<Ends>(service, 'masterchainInfo');
      expect(first.seqno).toBe(1);
      const { blocks } = await ask<{ blocks: readonly unknown[] }>(service, `blocks?workchain=-1&limit=1000`);
      expect(blocks.length).toBeGreaterThanOrEqual(Math.min(1000, last.seqno));
      await service.stop(signal);
    }
  });

  it('is indexed anew from its first block when the index is gone', async () => {
    rmSync(join(folder, 'postgres'), { recursive: true });
    const service = await start();
    await expect.poll(async () => (await indexOf(service))?.['state'], soon).toBe('Live');
    await expect.poll(async () => (await transactionsOf(service, receiver)).length, soon).toBe(3);
    expect((await ask<Ends>(service, 'masterchainInfo')).first.seqno).toBe(1);
    await service.stop();
  });

  it('refuses the index of another network, in a sentence', async () => {
    rmSync(join(folder, 'network'), { recursive: true });
    const { code, stderr } = await runToEnd(['--no-demo', '--data', folder, ...freePorts]);
    expect(stderr).toMatch(/the index holds the network \S+, not \S+: expected an index of this network/);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(1);
  });
});

describe('the index of npm start', () => {
  it('is left out by --no-index, and with it v3', async () => {
    const service = await startService(['--no-index', '--no-demo']);
    expect(await indexOf(service)).toBeUndefined();
    expect((await fetch(`${service.url}/api/v3/masterchainInfo`)).status).toBe(404);
    expect(service.stdout()).not.toContain('/api/v3');
    await service.stop();
  });

  it('goes into the Postgres that is named, for a recorded network too', async () => {
    const database = await createDatabase(import.meta.filename);
    const named = { environment: { TONPLANE_POSTGRES_URL: database.url } };
    const service = await startService(['--index', '--recorded', '--pace', '0'], named);
    await expect.poll(async () => (await indexOf(service))?.['state'], { ...soon, timeout: 90_000 }).toBe('Live');
    const { first, last } = await ask<Ends>(service, 'masterchainInfo');
    expect(first.seqno).toBe(1);
    const v2 = (await (
      await fetch(`${service.url}/api/v2/getMasterchainInfo`, { headers: { 'x-api-key': service.key } })
    ).json()) as { result: { last: { seqno: number } } };
    expect(last.seqno).toBe(v2.result.last.seqno);
    await service.stop();
    const other = await runToEnd(['--no-demo', '--postgres-url', database.url, ...freePorts]);
    expect(other.stderr).toContain('expected an index of this network');
    expect(other.stderr).not.toContain(database.url);
    await database.close();
  });
});
