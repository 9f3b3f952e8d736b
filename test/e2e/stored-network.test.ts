import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freePorts, runToEnd, startService, type ServiceProcess } from '../support/service-process.ts';
import { someOf } from '#test/support/volume.ts';

type Block = { readonly seqno: number; readonly root_hash: string; readonly file_hash: string };

const receiver = `0:${'5a'.repeat(32)}`;

async function ask<T>({ url, key }: ServiceProcess, path: string): Promise<T> {
  const response = await fetch(`${url}/api/v2/${path}`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { result: T }).result;
}

const headOf = async (service: ServiceProcess): Promise<Block> =>
  (await ask<{ last: Block }>(service, 'getMasterchainInfo')).last;

describe('a network stored with --data', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-kept-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (...more: string[]): Promise<ServiceProcess> =>
    startService(['--no-demo', '--data', folder, '--block-time', '0.4', ...more]);

  it('has every block and transfer that was ever shown after kill -9 at any moment', async () => {
    let [funded, seen] = [0, [] as Block[]];
    // Milliseconds of work before the kill: some in the middle of a block, some of a write.
    for (const workMs of someOf([900, 1370, 650, 1111], 2)) {
      const service = await start('--validators', '2');
      const head = await headOf(service);
      expect(head.seqno).toBeGreaterThanOrEqual(seen.at(-1)?.seqno ?? 1);
      for (const { seqno, root_hash, file_hash } of seen) {
        const place = `workchain=-1&shard=-9223372036854775808&seqno=${seqno}`;
        expect(await ask(service, `lookupBlock?${place}`)).toMatchObject({ root_hash, file_hash });
      }
      const balance = BigInt(await ask<string>(service, `getAddressBalance?address=${receiver}`));
      expect((balance + 500_000_000n) / 1_000_000_000n).toBeGreaterThanOrEqual(BigInt(funded));
      seen = [];
      const work = new AbortController();
      const { signal } = work;
      const watching = (async () => {
        while (!signal.aborted) {
          seen.push(await headOf(service));
          await sleep(20);
        }
      })().catch(() => undefined);
      const funding = (async () => {
        while (!signal.aborted) {
          const body = JSON.stringify({ address: receiver, amount: 1 });
          const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
          const { ok } = await fetch(`${service.url}/faucet`, { method: 'POST', headers, body });
          if (ok) funded++;
        }
      })().catch(() => undefined);
      await sleep(workMs);
      expect((await service.stop('SIGKILL')).code).toBe(null);
      work.abort();
      await Promise.all([watching, funding]);
    }
    expect(funded).toBeGreaterThan(0);
  });

  it('refuses a second process, and other validators than it was made with', async () => {
    const service = await start();
    const second = await runToEnd(['--data', folder, ...freePorts]);
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another process runs the network in') as string,
    });
    expect((await service.stop()).code).toBe(0);
    const other = await runToEnd(['--data', folder, '--validators', '3', ...freePorts]);
    expect(other.stderr).toContain(
      '--validators: expected 2 or no option, because the network in --data has 2 validators, got 3',
    );
    expect(other.code).toBe(1);
  });

  it('tells of a part of a block that it cuts off, and goes on', async () => {
    appendFileSync(join(folder, 'network/blocks.bin'), Buffer.from('TpR1\u0010\u0000'));
    const service = await start();
    expect(service.stderr()).toContain('is cut off');
    expect(service.stdout()).toContain(`stored in ${folder}`);
    const before = await headOf(service);
    await expect.poll(async () => (await headOf(service)).seqno).toBeGreaterThan(before.seqno);
    await service.stop();
  });
});
