import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { startService } from '#test/support/service-process.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

it('the bundle of the image starts, proves its head in a thread, runs get-methods in another, and serves the documentation', async () => {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: projectRoot });
  const service = await startService([], { entry: join(projectRoot, 'dist/main.js') });
  const headers = { 'x-api-key': service.key };
  const address = '-1:3333333333333333333333333333333333333333333333333333333333333333';
  const read = await fetch(`${service.url}/api/v2/getAddressBalance?address=${address}`, { headers });
  expect(await read.json()).toMatchObject({ ok: true, result: expect.stringMatching(/^\d+$/) as string });
  const call = { method: 'POST', headers, body: JSON.stringify({ address, method: 'active_election_id', stack: [] }) };
  const run = await fetch(`${service.url}/api/v2/runGetMethod`, call);
  expect(await run.json()).toMatchObject({ ok: true, result: { exit_code: 0, stack: [['num', '0x0']] } });
  const page = await fetch(`${service.url}/api/v2/docs/swagger-ui-bundle.js`);
  expect(page.status).toBe(200);
  expect((await service.stop('SIGTERM')).code).toBe(0);
});
