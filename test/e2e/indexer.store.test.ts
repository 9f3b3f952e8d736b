import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startNetwork, statusOf, type NetworkProcess } from '#test/support/api-processes.ts';
import { serviceProgram } from '#test/support/programs.ts';
import { projectRoot, serviceFlags } from '#test/support/service-flags.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { createDatabase } from '#test/support/stores.ts';

/** A recording is indexed in seconds; a busy machine needs some more. */
const soon = { timeout: 120_000, interval: 100 } as const;

type Index = { readonly state: string; readonly isHeadWriter: boolean; readonly headSeqno: number };

const noTerminal = spawnSync('script', ['--version']).status !== 0;

const indexOf = async (service: ServiceProcess): Promise<Index | undefined> =>
  (await statusOf(service))['index'] as Index | undefined;

describe('tonplane indexer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-indexer-'));
  const [manifest, uri] = [join(folder, 'tonapi.yaml'), join(folder, 'uri')];
  let network: NetworkProcess;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let first: ServiceProcess;
  beforeAll(async () => {
    [network, database] = await Promise.all([startNetwork(), createDatabase(import.meta.filename)]);
    const postgres = { secretRef: { name: 'database' } };
    writeFileSync(manifest, network.manifest({ surfaces: ['v2', 'v3'], postgres, indexer: {} }));
    writeFileSync(uri, database.url);
  });
  afterAll(async () => {
    await first?.stop();
    await network?.stop();
    await database?.close();
    rmSync(folder, { recursive: true });
  });

  const named = ['--manifest', manifest, '--postgres-file', uri];
  const start = (role: 'indexer' | 'api'): Promise<ServiceProcess> => startService([role, ...named]);

  async function query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Client(database.url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  it('waits for the tables, then writes the network into them, which others serve', async () => {
    const starting = start('indexer');
    expect((await runToEnd(['migrate', ...named])).code).toBe(0);
    first = await starting;
    await expect.poll(async () => (await indexOf(first))?.state, soon).toBe('Live');
    const api = await start('api');
    const info = (await (await fetch(`${api.url}/api/v3/masterchainInfo`)).json()) as { last: { seqno: number } };
    const v2 = (await (await fetch(`${api.url}/api/v2/getMasterchainInfo`)).json()) as {
      result: { last: { seqno: number } };
    };
    expect(info.last.seqno).toBe(v2.result.last.seqno);
    expect((await statusOf(api))['index']).toMatchObject({ text: `up to ${info.last.seqno}` });
    expect((await api.stop()).code).toBe(0);
  });

  it('stands by while another follows the head, and takes over when that one is killed', async () => {
    const second = await start('indexer');
    await expect.poll(async () => (await indexOf(second))?.state, soon).toBe('Live');
    expect([(await indexOf(first))?.isHeadWriter, (await indexOf(second))?.isHeadWriter]).toEqual([true, false]);
    await first.stop('SIGKILL');
    await expect.poll(async () => (await indexOf(second))?.isHeadWriter, soon).toBe(true);
    first = second;
  });

  it.skipIf(skipLoudly(noTerminal, { what: 'the live line of an indexer', why: 'no script(1) to make a terminal' }))(
    'keeps one line with its progress on a terminal',
    async () => {
      const command = [process.execPath, ...serviceFlags, serviceProgram, 'indexer', ...named, '--internal-port', '0'];
      const terminal = spawn('script', ['-qefc', `stty cols 60; exec ${command.join(' ')}`, '/dev/null'], {
        cwd: projectRoot,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((done) => terminal.once('close', done));
      let seen = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
      try {
        await expect
          .poll(() => seen.split('\r').filter((line) => line.startsWith('index')).length, soon)
          .toBeGreaterThan(2);
        const lines = seen.split('\r').filter((line) => line.startsWith('index'));
        expect(lines.at(-2)).toMatch(/^index.* \d+\.\d blocks\/s/);
        for (const line of lines) expect(line.split('\u001B[K', 1)[0]!.length).toBeLessThan(60);
      } finally {
        terminal.kill('SIGKILL');
        await ended;
      }
    },
  );

  it('takes over a password that is rotated in its file, without a restart', async () => {
    const name = `rotating_${process.pid}`;
    await query(`CREATE ROLE ${name} LOGIN PASSWORD 'old'; GRANT ALL ON SCHEMA ton TO ${name};
      GRANT ALL ON ALL TABLES IN SCHEMA ton TO ${name}`);
    const as = (password: string): string => Object.assign(new URL(database.url), { username: name, password }).href;
    try {
      writeFileSync(uri, as('old'));
      await expect.poll(() => query(`SELECT FROM pg_stat_activity WHERE usename = '${name}'`), soon).not.toEqual([]);
      await query(`ALTER ROLE ${name} PASSWORD 'new'`);
      writeFileSync(uri, as('new'));
      await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`);
      await expect.poll(() => query(`SELECT FROM pg_stat_activity WHERE usename = '${name}'`), soon).not.toEqual([]);
      await expect.poll(async () => (await indexOf(first))?.state, soon).toBe('Live');
      await expect.poll(async () => (await statusOf(first))['ready'], soon).toBe(true);
    } finally {
      writeFileSync(uri, database.url);
      await expect.poll(() => query(`SELECT FROM pg_stat_activity WHERE usename = '${name}'`), soon).toEqual([]);
      await query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  });

  it('refuses the index of another network, or one that begins elsewhere, in a sentence', async () => {
    const elsewhere = await runToEnd(['indexer', ...named, '--start-seqno', '5', '--internal-port', '0']);
    expect(elsewhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the index begins at block 1, not at 5') as string,
    });
    const zeroState = { rootHash: `${'B'.repeat(42)}A=`, fileHash: `${'B'.repeat(42)}A=` };
    const other = join(folder, 'other.yaml');
    writeFileSync(other, network.manifest({ postgres: { secretRef: { name: 'database' } }, indexer: {}, zeroState }));
    const refused = await runToEnd(['indexer', '--manifest', other, '--postgres-file', uri, '--internal-port', '0']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the index holds the network') as string,
    });
    expect(refused.stderr).not.toContain('    at ');
  });

  it('ends with exit code 0 after SIGTERM, and leaves its claims to others', async () => {
    expect((await first.stop('SIGTERM')).code).toBe(0);
    const holders = await query(
      'SELECT FROM ton.backfill_ranges WHERE done_until < to_seqno AND claimed_until > now()',
    );
    expect(holders).toEqual([]);
  });
});
