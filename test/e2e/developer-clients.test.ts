import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { STARTUP_KEYS } from '#service/devchain/dev/startup-keys.ts';
import { runDevCommand } from '#service/main/commands/dev-command.ts';
import type { welcomeJson } from '#service/main/network/welcome.ts';
import { installNpmPackages } from '#test/support/npm-packages.ts';
import { installPythonPackages } from '#test/support/python-packages.ts';
import { projectRoot } from '#test/support/service-flags.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';

// Clients that contract developers use, unmodified, on npm start, each on a journey from a startup wallet.

const ton = ['@ton/core@0.63.1', '@ton/crypto@3.3.0', '@ton/ton@16.3.0'];
const blueprint = await installNpmPackages(['@ton/blueprint@0.46.0', ...ton, 'ts-node@10.9.2', 'typescript@5.9.3']);
const assets = await installNpmPackages(['@ton-community/assets-sdk@0.0.5', ...ton]);
const python = await installPythonPackages('python-clients', ['tonutils==2.5.1', 'toncenter==0.4.0']);

const missingOf = (found: object): string | undefined => ('missing' in found ? String(found.missing) : undefined);
const skips = (what: string, found: object): boolean =>
  skipLoudly(missingOf(found) !== undefined, { what, why: missingOf(found) ?? '' });

const clients = join(projectRoot, 'test/clients');
const run = promisify(execFile);

let service: ServiceProcess;
let welcome: ReturnType<typeof welcomeJson>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tonplane-clients-'));
  service = await startService(['--block-time', 'on-demand', '--index', '--json']);
  welcome = JSON.parse(service.stdout()) as typeof welcome;
});
afterAll(async () => {
  await service.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

describe.skipIf(skips('Blueprint', blueprint))('Blueprint', () => {
  it('deploys the counter by the printed command, with a v4r2 and a v5r1, and reads it', async () => {
    symlinkSync(join('folder' in blueprint ? blueprint.folder : '', 'node_modules'), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'scripts'));
    copyFileSync(join(clients, 'blueprint-script.txt'), join(folder, 'scripts/deployCounter.ts'));
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const compilerOptions = { target: 'ES2022', module: 'commonjs', esModuleInterop: true, skipLibCheck: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const code = readFileSync(join(projectRoot, 'test/vectors/counter/counter.boc')).toString('base64');
    for (const version of ['v4r2', 'v5r1']) {
      const command = welcome.connect['Blueprint']!.replace('v4r2', version).replace(' run ', ' run deployCounter ');
      const environment = { ...process.env, COUNTER_CODE: code, npm_config_offline: 'true' };
      const { stdout } = await run('sh', ['-c', command], { cwd: folder, env: environment });
      expect(stdout).toContain('the counter is at 5');
    }
  });
});

describe.skipIf(skips('assets-sdk', assets))('assets-sdk', () => {
  it('deploys a jetton with a supply, and reads its content and balance', async () => {
    const home = 'folder' in assets ? assets.folder : '';
    copyFileSync(join(clients, 'assets-sdk.cjs'), join(home, 'assets-sdk.cjs'));
    const { stdout } = await run(process.execPath, [
      join(home, 'assets-sdk.cjs'),
      `${service.url}/api/v2/jsonRPC`,
      STARTUP_KEYS[2]!.mnemonic,
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'Assets', balance: '100000000000' });
  });
});

describe.skipIf(skips('tonutils and toncenter of PyPI', python))('tonutils and toncenter of PyPI', () => {
  it('send from wallets v5r1 and v4r2, and read account, jettons and actions', async () => {
    const interpreter = 'python' in python ? python.python : '';
    const { stdout } = await run(interpreter, [
      join(clients, 'python-clients.py'),
      service.url,
      STARTUP_KEYS[1]!.mnemonic,
      `0:${'ab'.repeat(32)}`,
      welcome.demo['wallet v4r2']!,
    ]);
    // Storage costs a nanoton now and then.
    const nearlyTwo = expect.closeTo(2_000_000_000, -1) as number;
    expect(JSON.parse(stdout)).toMatchObject({
      tonutils: { balance: nearlyTwo },
      toncenter: { balance: nearlyTwo, jettons: [expect.anything()], actions: ['ton_transfer', 'ton_transfer'] },
    });
  });

  it('deploy a stablecoin, which dev mintJetton mints by its own form', async () => {
    const interpreter = 'python' in python ? python.python : '';
    const script = [join(clients, 'stablecoin.py'), service.url, STARTUP_KEYS[3]!.mnemonic];
    const { master } = JSON.parse((await run(interpreter, script)).stdout) as { master: string };
    const owner = `0:${'cd'.repeat(32)}`;
    for (const supply of ['700', '1400']) {
      const minted = await runDevCommand(['mintJetton', master, owner, '700', '--internal-url', service.internalUrl]);
      expect(JSON.parse(minted)).toMatchObject({ supply });
    }
    const walletsOf = async (): Promise<unknown> => {
      const answer = await fetch(`${service.url}/api/v3/jetton/wallets?owner_address=${owner}`);
      return ((await answer.json()) as Record<string, unknown>)['jetton_wallets'];
    };
    const jetton = master.toUpperCase();
    await expect.poll(walletsOf).toMatchObject([{ balance: '1400', jetton }]);
  });
});
