import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';

import { parseArguments } from '#service/main/configuration/arguments.ts';
import { loadConfiguration } from '#service/main/configuration/configuration.ts';
import type { Loaded } from '#service/main/configuration/hot-reload.ts';
import { openStore } from '#service/main/wiring/store.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tonplane-parts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secretRef = (key: string) => ({ secretRef: { name: 'database', key } });
const parts = {
  host: { value: 'db.example.com' },
  database: { value: 'ton' },
  user: secretRef('username'),
  password: secretRef('password'),
  readOnlyHost: secretRef('replica'),
};

/** Loads a manifest with these parts, and the files of a mounted folder. */
function load(name: string, files: Readonly<Record<string, string>>): Loaded {
  const mounted = join(folder, name);
  mkdirSync(mounted);
  for (const [part, text] of Object.entries(files)) writeFileSync(join(mounted, part), text);
  const manifest = join(folder, `${name}.yaml`);
  writeFileSync(
    manifest,
    manifestOf((spec) => Object.assign(spec, { postgres: { parts } })),
  );
  return loadConfiguration(parseArguments(['--manifest', manifest, '--postgres-folder', mounted]), {});
}

function open({ config, ...urls }: Loaded) {
  const logger = pino({ level: 'silent' });
  return openStore(config, urls, { logger, register: new Registry(), tracer: trace.getTracer('test') });
}

describe('a database of parts', () => {
  it('is refused with the names of the parts that are missing', () => {
    expect(() => open(load('none', {}))).toThrow('spec.postgres.parts: expected user, password in --postgres-folder');
    expect(() => open(load('user', { user: 'app' }))).toThrow('spec.postgres.parts: expected password in');
  });

  it('is refused under its own field when the host of its replica makes no URL', () => {
    const files = { user: 'app', password: 'secret', readOnlyHost: 'a host' };
    expect(() => load('replica', files)).toThrow('spec.postgres (replica): expected postgres://');
  });

  it('is opened when every part has a value', async () => {
    const store = open(load('all', { user: 'app', password: 'secret' }));
    await expect(store.close()).resolves.toBeUndefined();
  });
});
