import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { startService, type ServiceProcess } from '#test/support/service-process.ts';

type Block = { readonly seqno: number; readonly root_hash: string };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-lost-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Blocks are made only when a test asks. */
const start = (): Promise<ServiceProcess> =>
  startService(['--index', '--no-demo', '--data', join(folder, 'data'), '--block-time', 'manual']);

async function dev({ internalUrl }: ServiceProcess, method: string, params: object): Promise<void> {
  const answer = await fetch(`${internalUrl}/dev`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  expect(await answer.json()).toMatchObject({ result: expect.anything() as unknown });
}

async function blocksOf({ url, key }: ServiceProcess): Promise<readonly Block[]> {
  const path = 'blocks?workchain=-1&limit=1000&sort=asc';
  const answer = await fetch(`${url}/api/v3/${path}`, { headers: { 'x-api-key': key } });
  return ((await answer.json()) as { blocks: readonly Block[] }).blocks;
}

/** Root hash by v2 of a block that v3 has. */
async function liveHash({ url, key }: ServiceProcess, seqno: number): Promise<string> {
  const place = `workchain=-1&shard=-9223372036854775808&seqno=${seqno}`;
  const answer = await fetch(`${url}/api/v2/lookupBlock?${place}`, { headers: { 'x-api-key': key } });
  return ((await answer.json()) as { result: Block }).result.root_hash;
}

it('a stored network that has lost its last blocks has an index and trusted blocks of the rest', async () => {
  const [network, copy] = [join(folder, 'data/network'), join(folder, 'copy')];
  const first = await start();
  await first.stop();
  cpSync(network, copy, { recursive: true });

  const second = await start();
  // A change of the configuration makes a key block.
  await dev(second, 'dev_setConfig', { parameter: 100, value: 'te6cckEBAQEAAgAAAEysuc0=' });
  await dev(second, 'dev_mine', { blocks: 6 });
  const before = await blocksOf(second);
  await second.stop();
  rmSync(network, { recursive: true });
  cpSync(copy, network, { recursive: true });

  const third = await start();
  expect(third.stderr()).toContain('the stored network has lost indexed blocks: the index is made again');
  expect(third.stderr()).toContain('the stored network has lost a trusted key block: all are proved again');
  await dev(third, 'dev_mine', { blocks: 1 });
  const after = await blocksOf(third);
  expect(after.length).toBeLessThan(before.length);
  expect(after.map(({ seqno }) => seqno)).toEqual(after.map((_block, at) => at + 1));
  expect(after.at(-1)?.root_hash).toBe(await liveHash(third, after.length));
  await third.stop();
});
