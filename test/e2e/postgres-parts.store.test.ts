import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { manifestOf } from '#test/service/config/manifest-builder.ts';
import { runToEnd } from '#test/support/service-process.ts';
import { createDatabase } from '#test/support/stores.ts';

/** A role whose name and password a URI has to escape. */
const role = { user: `app:@/${process.pid}`, password: 'p@ss/w:rd?#%' };

describe('a database that the manifest gives by its parts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-parts-'));
  const [manifest, mounted] = [join(folder, 'tonapi.yaml'), join(folder, 'postgres')];
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let admin: Client;
  beforeAll(async () => {
    database = await createDatabase(import.meta.filename);
    admin = new Client(database.url);
    await admin.connect();
    const { hostname, port, pathname } = new URL(database.url);
    const name = pathname.slice(1);
    await admin.query(`CREATE ROLE "${role.user}" LOGIN PASSWORD '${role.password}'`);
    await admin.query(`GRANT ALL ON DATABASE ${name} TO "${role.user}"`);
    const secretRef = { name: 'database' };
    const postgres = {
      parts: {
        host: { value: hostname },
        port: { value: port },
        database: { secretRef },
        user: { secretRef },
        password: { secretRef },
      },
    };
    writeFileSync(
      manifest,
      manifestOf((spec) => Object.assign(spec, { surfaces: ['v2', 'v3'], postgres })),
    );
    mkdirSync(mounted);
    writeFileSync(join(mounted, 'database'), name);
    writeFileSync(join(mounted, 'user'), role.user);
  });
  afterAll(async () => {
    await admin.query(`REASSIGN OWNED BY "${role.user}" TO CURRENT_USER`);
    await admin.query(`DROP OWNED BY "${role.user}"`);
    await admin.query(`DROP ROLE "${role.user}"`);
    await admin.end();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const migrate = () => runToEnd(['migrate', '--manifest', manifest, '--postgres-folder', mounted]);

  it('is missing while a part is missing, and then is the one that is migrated', async () => {
    const early = await migrate();
    expect(early.code).not.toBe(0);
    expect(early.stderr).toContain('--postgres-folder');
    writeFileSync(join(mounted, 'password'), `${role.password}\n`);
    expect(await migrate()).toMatchObject({ code: 0 });
    const { rows } = await admin.query("SELECT tableowner FROM pg_tables WHERE schemaname = 'ton' LIMIT 1");
    expect(rows).toEqual([{ tableowner: role.user }]);
  });
});
