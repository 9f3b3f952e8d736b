import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';

import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';

import { skipLoudly } from '#test/support/skips.ts';
import { projectRoot } from '#test/style/sources.ts';

const bin = postgresBinaries() ?? '';
const missing = { what: 'the Postgres of the dev role', why: 'embedded-postgres has no binaries for this platform' };

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(skipLoudly(bin === '', missing))('the Postgres of the dev role', () => {
  const home = mkdtempSync(join(tmpdir(), 'tonplane-embedded-'));
  afterAll(() => rmSync(home, { recursive: true }));

  it('asks for its password, and for nothing but the password', async () => {
    const server = await startEmbeddedPostgres({ bin });
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const other = new URL(server.url);
    other.password = 'guess';
    await expect(query(other.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    expect(readFileSync(join(await folderOf(server.url), 'url'), 'utf8').trim()).toBe(server.url);
    expect(await query(server.socketUrl, 'SELECT inet_client_addr() AS client')).toEqual([{ client: null }]);
    await expect(query(server.socketUrl.replace(/:[^:@]*@/, ':guess@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
    await server.close();
    await expect(query(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('takes a temporary folder away at its end, and keeps a named one', async () => {
    const temporary = await startEmbeddedPostgres({ bin });
    const gone = await folderOf(temporary.url);
    await temporary.close();
    expect(existsSync(gone)).toBe(false);
    // As root has it: a folder that the server's account may not enter.
    const folder = join(mkdtempSync(join(home, 'private-')), 'postgres');
    const first = await startEmbeddedPostgres({ bin, folder });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const [setting] = await query(first.url, 'SHOW unix_socket_directories');
    const { unix_socket_directories: sockets } = setting as { unix_socket_directories: string };
    expect(existsSync(sockets)).toBe(true);
    await first.close();
    expect(existsSync(sockets)).toBe(false);
    const second = await startEmbeddedPostgres({ bin, folder });
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await second.close();
  });

  it('ends with a process that is killed, whose folder the next start can use at once', async () => {
    const folder = join(home, 'killed');
    const { child, url } = await startElsewhere(JSON.stringify(folder));
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    child.kill('SIGKILL');
    const next = await startEmbeddedPostgres({ bin, folder });
    expect(await query(next.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await next.close();
  });

  it('takes its temporary folder away with a process that is killed', async () => {
    const { child, url } = await startElsewhere('undefined');
    const folder = await folderOf(url);
    child.kill('SIGKILL');
    await expect.poll(() => existsSync(folder)).toBe(false);
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('starts again, where it was, when it is killed itself', async () => {
    const server = await startEmbeddedPostgres({ bin });
    await query(server.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    // A commit is not on the disk yet when it is told; a statement of its own comes after it.
    await query(server.url, 'CHECKPOINT');
    const folder = await folderOf(server.url);
    const [pid = ''] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
    const answer = () => query(server.url, 'SELECT answer FROM kept').catch(() => 'away');
    await expect.poll(answer).toEqual([{ answer: 42 }]);
    expect(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]).not.toBe(pid);
    await server.close();
    expect(existsSync(folder)).toBe(false);
  });

  it('tells what the server says when it does not start', async () => {
    const folder = join(home, 'broken');
    const server = await startEmbeddedPostgres({ bin, folder });
    await server.close();
    writeFileSync(join(folder, 'data/PG_VERSION'), '9\n');
    await expect(startEmbeddedPostgres({ bin, folder })).rejects.toMatchObject({
      code: 'postgres_failed',
      message: expect.stringMatching(/database files are incompatible[^]*--no-index/) as string,
    });
  });
});

/** The folder of a server, as it says itself. */
async function folderOf(url: string): Promise<string> {
  const [row] = await query(url, 'SHOW data_directory');
  const data = (row as { data_directory: string }).data_directory;
  if (data !== '/proc/self/cwd') return dirname(data);
  const [process] = await query(url, `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`);
  return dirname(realpathSync(`/proc/${(process as { pid: string }).pid}/cwd`));
}

/** Starts a server in a process of its own. */
async function startElsewhere(folder: string) {
  const code = `
    import { startEmbeddedPostgres } from './service/main/postgres/embedded-postgres.ts';
    const { url } = await startEmbeddedPostgres({ bin: ${JSON.stringify(bin)}, folder: ${folder} });
    process.stdout.write(url);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((done) => child.stdout.once('data', (text: Buffer) => done(text.toString())));
  return { child, url };
}
