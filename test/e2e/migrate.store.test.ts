import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { schemaVersion } from '#service/store/migrations/steps.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';
import { runToEnd } from '#test/support/service-process.ts';
import { createDatabase } from '#test/support/stores.ts';

describe('tonplane migrate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-migrate-'));
  const manifest = join(folder, 'tonapi.yaml');
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    const postgres = { secretRef: { name: 'database' }, schema: 'ledger' };
    writeFileSync(
      manifest,
      manifestOf((spec) => Object.assign(spec, { surfaces: ['v2', 'v3'], postgres })),
    );
    database = await createDatabase(import.meta.filename);
  });
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const run = (...args: string[]) => runToEnd(['migrate', '--manifest', manifest, ...args]);

  async function query(sql: string): Promise<readonly unknown[]> {
    const client = new Client(database.url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  it('tells what it would do and does nothing, then does it, and nothing the next time', async () => {
    const planned = await run('--postgres-url', database.url, '--plan');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout.trim().split('\n')).toHaveLength(schemaVersion);
    expect(planned.stdout).toContain('would take step 1 (ledger)');
    expect(await query("SELECT to_regclass('ledger.transactions') AS found")).toEqual([{ found: null }]);
    const first = await run('--postgres-url', database.url);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`at version ${schemaVersion}: took`) as string,
    });
    expect(await query('SELECT count(*)::int AS rows FROM ledger.transactions')).toEqual([{ rows: 0 }]);
    const file = join(folder, 'uri');
    writeFileSync(file, `${database.url}\n`);
    const second = await run('--postgres-file', file);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('had what version') as string });
  });

  it('leaves a schema alone that has become another', async () => {
    const later = schemaVersion + 1;
    await query(`INSERT INTO ledger.schema_versions VALUES (${later}, 'later', ${later})`);
    const refused = await run('--postgres-url', database.url);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('upgrade Tonplane') as string });
    await query(`UPDATE ledger.schema_versions SET compatible_from = 1 WHERE version = ${later}`);
    expect(await run('--postgres-url', database.url)).toMatchObject({ code: 0 });
  });

  it('tells where it looked for a database that nobody names, and repeats no URL', async () => {
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--postgres-url, --postgres-file, .* Secret database .* got none/) as string,
    });
    const wrong = await run('--postgres-url', 'http://user:secret@host/database');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('got http://') as string });
    expect(wrong.stderr).not.toContain('secret');
  });
});
