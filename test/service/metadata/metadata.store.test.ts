import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { MetadataOutcome } from '#service/store/metadata-tasks.ts';
import { claimMetadataTasks, endMetadataTask } from '#service/store/metadata-tasks.ts';
import { startTokenHost, type TokenHost } from './token-host.ts';
import { createTokenQueue, tokenKey, type TokenQueue } from './token-queue.ts';
import { startWorker, type WorkerUnderTest } from './worker.ts';

const daySeconds = 86_400;

let queue: TokenQueue;
let open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  queue = await createTokenQueue(import.meta.filename);
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
  await queue.close();
});

async function hostThat(answer: Parameters<typeof startTokenHost>[0]): Promise<TokenHost> {
  const host = await startTokenHost(answer);
  open.push(host);
  return host;
}

function worker(host: Pick<TokenHost, 'port'>, ...rest: [Parameters<typeof startWorker>[2]?]): WorkerUnderTest {
  const started = startWorker(queue.another(), host, ...rest);
  open.push(started);
  return started;
}

const patience = { timeout: 120_000, interval: 20 };
const uriAt = ({ port }: TokenHost, path = '/', name = 'tokens'): string => `http://${name}.example:${port}${path}`;
const idle = { port: 80 };

/** Serves a page that names its path. */
const naming: Parameters<typeof startTokenHost>[0] = ({ url }, response) =>
  void response.end(JSON.stringify({ name: url, symbol: 'PAGE' }));
const broken: Parameters<typeof startTokenHost>[0] = (_, response) => void response.writeHead(503).end();
const silent: Parameters<typeof startTokenHost>[0] = () => {};

describe('a task in the queue', () => {
  it('a task becomes a row for a week: the page, overridden by the chain', async () => {
    const host = await hostThat(naming);
    await queue.addMasters([{ uri: uriAt(host, '/a'), symbol: 'CHAIN' }]);
    const started = worker(host);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    const row = await queue.rowOf(tokenKey(0));
    expect(row).toMatchObject({ type: 'jetton_masters', valid: true, name: '/a', symbol: 'CHAIN', description: null });
    expect(row?.extra).toEqual({ uri: uriAt(host, '/a') });
    expect((row?.expires_at ?? 0) - (row?.updated_at ?? 0)).toBe(7 * daySeconds);
    expect(Math.abs((row?.updated_at ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    await expect.poll(() => started.status(), patience).toMatchObject({ fetched: 1, failed: 0, held: 0 });
    expect(await started.register.metrics()).toMatch(/ton_metadata_attempts_total\{result="fetched"\} 1/);
  });

  it("a task sends no request when the chain's data are enough", async () => {
    await queue.addItem({ domain: 'a.ton' });
    worker(idle);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rowOf(tokenKey(0))).toMatchObject({
      type: 'nft_items',
      valid: true,
      extra: { domain: 'a.ton' },
    });
  });

  it.each([
    ['says too little and names no page', { name: 'A' }],
    ['names a page of a scheme that is not fetched', { uri: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG' }],
    ['names a port that is not asked', { uri: 'http://tokens.example:22/' }],
  ])('a task of a token that %s is not tried twice', async (_, content) => {
    await queue.addMasters([content]);
    worker(idle);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: false, name: null, extra: {} });
  });

  it('a task of a contract that is no token ends without a row', async () => {
    await queue.enqueue(tokenKey(5));
    worker(idle);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rows()).toEqual([]);
  });

  it('a failed task is reported as invalid, and tried five times more, each time later', async () => {
    const host = await hostThat(broken);
    await queue.addMasters([{ uri: uriAt(host) }]);
    const { register } = worker(host);
    for (const pauseSeconds of [5, 10, 20, 40, 80]) {
      await expect.poll(async () => (await queue.tasks())[0]?.due_in ?? 0, patience).toBeGreaterThan(pauseSeconds - 3);
      const [task] = await queue.tasks();
      // While the task is in progress it is due after the time of a claim.
      await expect.poll(async () => (await queue.tasks())[0]?.due_in, patience).toBeLessThanOrEqual(pauseSeconds);
      expect(task?.attempts).toBe(Math.log2(pauseSeconds / 5) + 1);
      expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: false });
      await queue.pass(pauseSeconds);
    }
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(host.seen).toHaveLength(6);
    const { expires_at: expires = 0 } = (await queue.rowOf(tokenKey(0))) ?? {};
    expect(Math.abs(expires - Date.now() / 1000 - daySeconds)).toBeLessThan(60);
    const text = await register.metrics();
    expect(text).toMatch(/ton_metadata_attempts_total\{result="bad_status"\} 6/);
    expect(text).toMatch(/ton_metadata_given_up_total 1/);
  });

  it('a failed task leaves the last good metadata, and is not due for a day', async () => {
    const host = await hostThat(broken);
    await queue.putRow({ name: 'Good', extra: { a: 1 } });
    await queue.addMasters([{ uri: uriAt(host) }]);
    worker(host);
    for (let attempt = 1; attempt <= 6; attempt++) {
      await expect.poll(() => host.seen.length, patience).toBe(attempt);
      expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: true, name: 'Good', extra: { a: 1 } });
      await expect.poll(async () => (await queue.tasks())[0]?.due_in ?? 0, patience).toBeLessThan(100);
      await queue.pass(100);
    }
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    const row = await queue.rowOf(tokenKey(0));
    expect(row).toMatchObject({ valid: true, name: 'Good', extra: { a: 1 } });
    expect(row?.expires_at).toBeGreaterThan(Date.now() / 1000 + daySeconds - 1000);
  });

  it('a task replaces metadata, whether it was good or not', async () => {
    const host = await hostThat(naming);
    await queue.putRow({ name: 'Old', description: 'Old', extra: { old: 1 } });
    await queue.putRow({ address: tokenKey(1), valid: false });
    await queue.addMasters([{ uri: uriAt(host, '/a') }, { uri: uriAt(host, '/b') }]);
    worker(host);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rows()).toMatchObject([
      { valid: true, name: '/a', description: null, extra: { uri: uriAt(host, '/a') } },
      { valid: true, name: '/b' },
    ]);
  });

  it('a row has links to an image in IPFS, and no links that its page gives', async () => {
    const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG';
    const images = ['ipfs://' + cid, 'https://a.example/a.png'];
    const host = await hostThat(({ url }, response) => {
      response.end(
        JSON.stringify({ symbol: 'A', image: images[Number(url!.slice(1))], _image_big: 'http://10.0.0.1/' }),
      );
    });
    await queue.addMasters([{ uri: uriAt(host, '/0') }, { uri: uriAt(host, '/1') }]);
    worker(host, { ipfsGateway: 'https://gateway.example' });
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    const link = `https://gateway.example/ipfs/${cid}`;
    expect((await queue.rows()).map(({ extra }) => extra)).toEqual([
      { uri: uriAt(host, '/0'), _image_small: link, _image_medium: link, _image_big: link },
      { uri: uriAt(host, '/1') },
    ]);
  });

  it('a row stores any page, with all its bytes', async () => {
    const host = await hostThat(
      (_, response) => void response.end(String.raw`{"name":"a\u0000\ud800b","x":{"__proto__":1,"\u0000":1e999}}`),
    );
    await queue.addMasters([{ uri: uriAt(host) }]);
    worker(host);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: true, name: 'a\uFFFDb', extra: { x: { '': null } } });
  });
});

describe('several workers', () => {
  it('several workers share the queue: each page is requested once', async () => {
    const host = await hostThat(naming);
    await queue.addMasters(Array.from({ length: 300 }, (_, at) => ({ uri: uriAt(host, `/${at}`) })));
    const workers = [worker(host), worker(host)];
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(new Set(host.seen.map(({ path }) => path)).size).toBe(300);
    expect(host.seen).toHaveLength(300);
    const rows = await queue.rows();
    expect(rows.map(({ name }) => name)).toEqual(Array.from({ length: 300 }, (_, at) => `/${at}`));
    await expect.poll(() => workers.reduce((sum, one) => sum + one.status().fetched, 0), patience).toBe(300);
  });

  it('a worker takes over the tasks of a killed worker when their claim expires', async () => {
    const host = await hostThat(({ url }, response) => {
      if (host.seen.length > 1) response.end(JSON.stringify({ name: url }));
    });
    await queue.addMasters([{ uri: uriAt(host, '/a') }]);
    const killed = fork(join(import.meta.dirname, 'worker-process.ts'), [queue.url, String(host.port)]);
    await expect.poll(() => host.seen.length, patience).toBe(1);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const next = worker(host);
    await expect.poll(() => next.status().backlog, patience).toMatchObject({ tasks: 1, oldestSeconds: 0 });
    expect(await queue.tasks()).toMatchObject([{ attempts: 1 }]);
    await queue.pass(301);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(host.seen).toHaveLength(2);
    expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: true, name: '/a' });
  });

  it('a worker writes nothing for a task that another worker has taken over', async () => {
    await queue.addMasters([{ uri: 'https://a.example/' }]);
    const [late] = await claimMetadataTasks(queue.store, { tasksMax: 1, claim: 1n, busyHosts: [] });
    await queue.pass(301);
    const [next] = await claimMetadataTasks(queue.store, { tasksMax: 1, claim: 2n, busyHosts: [] });
    const outcomes: MetadataOutcome[] = [
      {
        kind: 'fetched',
        words: { name: 'Late', description: null, symbol: null, image: null, extra: {} },
        expiresInSeconds: 1,
      },
      { kind: 'failed', againInSeconds: 1, expiresInSeconds: 1 },
      { kind: 'given_up', expiresInSeconds: 1 },
      { kind: 'dropped' },
    ];
    for (const outcome of outcomes) expect(await endMetadataTask(queue.store, late!, outcome)).toBe(false);
    expect(await queue.rows()).toEqual([]);
    expect(await queue.tasks()).toMatchObject([{ claim: 2n, attempts: 2 }]);
    expect(await endMetadataTask(queue.store, next!, outcomes[0]!)).toBe(true);
    expect(await queue.rows()).toMatchObject([{ name: 'Late' }]);
  });

  it('a worker gives up a task that was begun six times and never ended, without a further request', async () => {
    const host = await hostThat(naming);
    await queue.addMasters([{ uri: uriAt(host) }]);
    for (let claim = 1n; claim <= 6n; claim++) {
      await claimMetadataTasks(queue.store, { tasksMax: 1, claim, busyHosts: [] });
      await queue.pass(301);
    }
    worker(host);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(host.seen).toEqual([]);
    expect(await queue.rows()).toMatchObject([{ valid: false }]);
  });
});

describe('a worker', () => {
  it('a closed worker requeues its tasks, as if they had never begun', async () => {
    const host = await hostThat(silent);
    await queue.addMasters(Array.from({ length: 30 }, () => ({ uri: uriAt(host) })));
    const started = worker(host);
    await expect.poll(() => host.seen.length, patience).toBe(4);
    await started.close();
    const tasks = await queue.tasks();
    expect(tasks).toHaveLength(30);
    expect(tasks.filter(({ attempts, due_in: dueIn }) => attempts !== 0 || dueIn > 0)).toEqual([]);
    expect(await queue.rows()).toEqual([]);
  });

  it('a worker has slots for other hosts while one host is slow, however many requests wait for it', async () => {
    const host = await hostThat((request, response) =>
      request.headers.host?.startsWith('other') === true ? naming(request, response) : undefined,
    );
    await queue.addMasters(Array.from({ length: 500 }, (_, at) => ({ uri: uriAt(host, `/${at}`) })));
    await queue.addMasters([{ uri: uriAt(host, '/quick', 'other') }], 500);
    const started = worker(host, { concurrency: 4, concurrencyPerHost: 2, timeoutMs: 20_000 });
    await expect.poll(async () => (await queue.rowOf(tokenKey(500)))?.name, patience).toBe('/quick');
    expect(host.seen.filter(({ path }) => path !== '/quick')).toHaveLength(2);
    expect(started.status().held).toBeLessThanOrEqual(16);
    expect((await queue.tasks()).filter(({ host: name }) => name === 'tokens.example').length).toBeGreaterThan(400);
  });

  it('a worker goes on where it was after Postgres was unavailable', async () => {
    const host = await hostThat(naming);
    const store = queue.another();
    const started = startWorker(store, host);
    open.push(started);
    store.setUrls({ url: 'postgres://nobody@127.0.0.1:1/none' });
    await expect.poll(() => started.status().trouble, patience).toEqual(expect.any(String));
    expect(started.status().text).toContain('ECONNREFUSED');
    store.setUrls({ url: queue.url });
    await queue.addMasters([{ uri: uriAt(host, '/a') }]);
    await expect.poll(() => queue.tasks(), patience).toEqual([]);
    expect(await queue.rows()).toMatchObject([{ name: '/a' }]);
  });
});
