import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Address, internal } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { methodRows } from '#service/devchain/dev/method-table.ts';
import { readDump } from '#service/devchain/dev/network-dump.ts';
import { runDevCommand } from '#service/main/commands/dev-command.ts';
import { putCode } from '#test/support/put-contract.ts';
import { answeringCode, answeringData } from '#test/support/scripted-contract.ts';
import { serviceProgram } from '#test/support/programs.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';

const account = `-1:${'a1'.repeat(32)}`;

let service: ServiceProcess;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-dev-'));
  service = await startService(['--no-demo', '--block-time', 'manual', '--dump', join(folder, 'end.boc')]);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function dev(...args: string[]): Promise<Record<string, unknown>> {
  const text = await runDevCommand([...args, '--internal-url', service.internalUrl]);
  return JSON.parse(text) as Record<string, unknown>;
}

const balanceOf = async ({ url }: ServiceProcess): Promise<unknown> => {
  const answer = await fetch(`${url}/api/v2/getAddressBalance?address=${account}`);
  return ((await answer.json()) as { result: unknown }).result;
};

/** Status and error text of an answer of the API. */
async function ask(path = '/api/v2/getMasterchainInfo'): Promise<readonly [number, string | undefined]> {
  const answer = await fetch(`${service.url}${path}`);
  return [answer.status, ((await answer.json()) as { error?: string }).error];
}

describe('npm start -- dev', () => {
  it('calls a method with values in order or by name, and prints the result', async () => {
    const command = [serviceProgram, 'dev', 'status', '--internal-url', service.internalUrl];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    const before = JSON.parse(stdout) as { seqno: number };
    expect(await dev('mine', '2')).toMatchObject({ seqno: before.seqno + 2 });
    expect(await dev('dev_mine', '--blocks', '1')).toMatchObject({ seqno: before.seqno + 3 });
    await dev('setBalance', account, '42');
    expect(await balanceOf(service)).toBe('42');
  });

  it('makes no block by itself with --block-time manual, but for the faucet', async () => {
    const { seqno } = await dev('status');
    await new Promise((done) => setTimeout(done, 1500));
    expect(await dev('status')).toMatchObject({ seqno });
    expect(await dev('fund', account, '1')).toMatchObject({ amount: '1000000000' });
    expect(BigInt((await balanceOf(service)) as string)).toBeGreaterThan(1_000_000_000n);
  });

  it('names the methods for an unknown one, the field for a wrong value, and the network that is not there', async () => {
    await expect(dev('fly')).rejects.toThrow('dev: expected status, mine, advance');
    await expect(dev('mine', '1001')).rejects.toThrow('blocks: expected a whole number from 1 to 1000, got 1001');
    await expect(dev('mine', '1', '2')).rejects.toThrow('dev mine: expected [blocks]');
    await expect(runDevCommand(['status', '--internal-url', 'http://127.0.0.1:1'])).rejects.toThrow(
      'expected a running private network at http://127.0.0.1:1',
    );
    await expect(runDevCommand(['help'])).rejects.toThrow('Makes blocks at once.');
  });

  it('is described with every method and parameter in the OpenAPI document of the internal port', async () => {
    const document = (await (await fetch(`${service.internalUrl}/openapi.json`)).json()) as {
      paths: object;
      components: { schemas: Record<string, { properties: { params: { properties: object } } }> };
    };
    expect(Object.keys(document.paths)).toEqual(['/dev']);
    for (const [name, { parameters }] of Object.entries(methodRows)) {
      const schema = document.components.schemas[name];
      expect(Object.keys(schema!.properties.params.properties)).toEqual(parameters.map((one) => one.name));
    }
  });

  it('lets a client meet delays, failures and a rate limit, and ends them', async () => {
    await dev('conditions', '--failurePercent', '100');
    expect(await ask()).toEqual([503, 'a failure that dev_conditions asks for']);
    expect((await ask('/api/v2/openapi.json'))[0]).toBe(200);
    await dev('conditions', '--requestsPerSecond', '1');
    const statuses = new Set((await Promise.all(Array.from({ length: 8 }, () => ask()))).map(([status]) => status));
    expect(statuses).toEqual(new Set([200, 429]));
    await dev('conditions', '--delayMs', '300');
    expect((await ask())[0]).toBe(200);
    await dev('conditions');
    expect((await ask())[0]).toBe(200);
  });

  it('writes the network into a file, which another one begins with or loads', async () => {
    await dev('setBalance', account, '77');
    const file = join(folder, 'network.boc');
    expect(await dev('dump', file)).toMatchObject({ file });
    await dev('setBalance', account, '78');
    await dev('load', file);
    expect(await balanceOf(service)).toBe('77');
    await service.stop();
    for (const from of [file, join(folder, 'end.boc')]) {
      const other = await startService(['--load', from, '--block-time', 'manual']);
      expect(await balanceOf(other)).toBe('77');
      await other.stop();
    }
    writeFileSync(file, 'no dump');
    await expect(startService(['--load', file])).rejects.toThrow('dump: expected a dump of dev_dump');
  });

  it('ends with a warning and writes the dump while messages do not stop', async () => {
    const file = join(folder, 'busy.boc');
    const busy = await startService(['--no-demo', '--block-time', 'manual', '--dump', file]);
    const [one, two] = [`0:${'33'.repeat(32)}`, `-1:${'33'.repeat(32)}`];
    for (const [own, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const answer = internal({ to: Address.parse(other), value: 1_000_000_000n });
      await putCode(busy, own, answeringCode, answeringData([answer]));
    }
    await runDevCommand(['fund', one, '1', '--internal-url', busy.internalUrl]);
    expect((await busy.stop()).code).toBe(0);
    expect(busy.stdout() + busy.stderr()).toContain('messages do not stop; the dump is without those in transit');
    expect(readDump(readFileSync(file), 'dump').utime).toBeGreaterThan(0);
  });
});
