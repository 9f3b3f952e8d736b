import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { makeKey } from '#service/limits/keys.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { startService } from '#test/support/service-process.ts';

const projectRoot = resolve(import.meta.dirname, '../..');

/** A build takes a minute and a half on a busy machine. */
const buildsMs = 300_000;

/** So many keys that a thread reads them when they change. */
const keys = Array.from({ length: 5000 }, () => makeKey(randomBytes));

const keyringOf = (some: typeof keys): string =>
  JSON.stringify({ keys: some.map(({ id, sha256 }) => ({ id, sha256: sha256.toString('hex'), plan: 'unlimited' })) });

it(
  'the bundle of the image starts, has threads that prove its head, run get-methods, read keys and make rows, and serves the documentation and the explorer',
  async () => {
    const keyring = mountFolder({ 'keyring.json': keyringOf(keys.slice(1)) });
    const service = await startService(['--index', '--keyring', keyring.path], {
      entry: join(projectRoot, 'dist/main.js'),
    });
    const headers = { 'x-api-key': service.key };
    const address = '-1:3333333333333333333333333333333333333333333333333333333333333333';
    const read = await fetch(`${service.url}/api/v2/getAddressBalance?address=${address}`, { headers });
    expect(await read.json()).toMatchObject({ ok: true, result: expect.stringMatching(/^\d+$/) as string });
    const call = {
      method: 'POST',
      headers,
      body: JSON.stringify({ address, method: 'active_election_id', stack: [] }),
    };
    const run = await fetch(`${service.url}/api/v2/runGetMethod`, call);
    expect(await run.json()).toMatchObject({ ok: true, result: { exit_code: 0, stack: [['num', '0x0']] } });
    keyring.put({ 'keyring.json': keyringOf(keys) });
    const added = { headers: { 'x-api-key': keys[0]?.key ?? '' } };
    const status = async () => (await fetch(`${service.url}/api/v2/getMasterchainInfo`, added)).status;
    await expect.poll(status).toBe(200);
    const info = async () => (await fetch(`${service.url}/api/v3/masterchainInfo`, { headers })).status;
    await expect.poll(info).toBe(200);
    const page = await fetch(`${service.url}/api/v2/docs/swagger-ui-bundle.js`);
    expect(page.status).toBe(200);
    const html = await (await fetch(`${service.url}/explorer`)).text();
    const files = [...html.matchAll(/ (?:src|href)="(\/explorer\/[^"]+)"/g)].map(([, path]) => `${service.url}${path}`);
    const answers = await Promise.all(files.map((url) => fetch(url)));
    expect(files.length).toBeGreaterThan(20);
    expect(answers.filter(({ ok }) => !ok).map(({ url }) => url)).toEqual([]);
    expect((await service.stop('SIGTERM')).code).toBe(0);
    keyring.remove();
  },
  buildsMs,
);

it('the programs of the bundle do not contain the emulator, which only a thread that runs contracts reads', () => {
  const sizes = ['main', 'worker'].map((name) => statSync(join(projectRoot, `dist/${name}.js`)).size / 2 ** 20);
  const emulator = join(projectRoot, 'dist/node_modules/@ton/sandbox/dist/executor/emulator-emscripten.wasm.js');
  expect(Math.max(...sizes)).toBeLessThan(12);
  expect(statSync(emulator).size / 2 ** 20).toBeGreaterThan(6);
});

it('the programs of the bundle are ASCII, so V8 stores a letter of theirs in one byte', () => {
  const programs = readdirSync(join(projectRoot, 'dist')).filter((name) => name.endsWith('.js'));
  const letters = /[^\0-\x7f].{0,40}/g;
  const found = programs.map((name) => [name, readFileSync(join(projectRoot, 'dist', name), 'utf8').match(letters)]);
  expect(programs).toContain('main.js');
  expect(found.filter(([, places]) => places !== null)).toEqual([]);
});

it('the bundle without a Postgres beside it says so, and serves v2 alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-bundle-'));
  cpSync(join(projectRoot, 'dist'), folder, { recursive: true });
  const service = await startService(['--index', '--no-demo'], { entry: join(folder, 'main.js') });
  expect(service.stdout()).toContain('starts without the index, so without /api/v3');
  const headers = { 'x-api-key': service.key };
  const statusOf = async (path: string) => (await fetch(`${service.url}/api/${path}`, { headers })).status;
  expect([await statusOf('v2/getMasterchainInfo'), await statusOf('v3/masterchainInfo')]).toEqual([200, 404]);
  expect((await service.stop('SIGTERM')).code).toBe(0);
  rmSync(folder, { recursive: true });
});

it(
  'the plugin of kubectl is one file of the build, or one program without Node, with help and exit codes',
  async () => {
    await promisify(execFile)(process.execPath, ['--build-sea', 'operator/kubectl/sea.json'], { cwd: projectRoot });
    const sources = [process.execPath, join(projectRoot, 'operator/kubectl.ts')];
    const bundle = [process.execPath, join(projectRoot, 'dist/kubectl-ton.js')];
    const whole = join(projectRoot, 'dist/kubectl-ton');
    const help = await outcomeOf([whole, '--help']);
    // It has some 160 MB, which the next run would copy.
    rmSync(whole);
    expect([help.code, help.stderr, help.stdout]).toEqual([0, '', expect.stringContaining('kubectl ton top [NAME]')]);
    const wrong = await outcomeOf([...sources, 'topp']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toBe('kubectl-ton: expected one of status, plan, keys, pods, top, got topp\n');
    const refused = await outcomeOf([...bundle, 'pods', '--kubeconfig', '/nowhere']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('kubectl-ton: kubeconfig: ENOENT')]);
  },
  buildsMs,
);

function outcomeOf([program = '', ...args]: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    execFile(program, args, (error, stdout, stderr) => done({ code: Number(error?.code ?? 0), stdout, stderr }));
  });
}

it('the build writes a bill of materials: every package with its version and hash, those of the build alone marked', () => {
  type Component = {
    name: string;
    version: string;
    hashes?: readonly { alg: string }[];
    properties: readonly { name: string }[];
  };
  const bill = JSON.parse(readFileSync(join(projectRoot, 'dist/sbom.cdx.json'), 'utf8')) as { components: Component[] };
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const isOfBuild = ({ properties }: Component) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  const marks = new Map(bill.components.map((one) => [`${one.name}@${one.version}`, isOfBuild(one)]));
  const marksOf = (wanted: Record<string, string>) =>
    new Set(Object.entries(wanted).map(([name, version]) => marks.get(`${name}@${version}`)));
  expect(marksOf(dependencies)).toEqual(new Set([false]));
  // A package that both need is not of the build alone.
  expect(marksOf(devDependencies)).toEqual(new Set([true, false]));
  const unhashed = bill.components.filter(({ hashes = [] }) => !hashes.some(({ alg }) => alg === 'SHA-512'));
  expect(unhashed.map(({ name }) => name)).toEqual([]);
});
