import { renameSync, rmSync, writeFileSync } from 'node:fs';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { configFromManifest, hotHashOfManifest } from '#service/config.ts';
import { LimitsError } from '#service/limits/errors.ts';
import { createHotReload, type Loaded } from '#service/main/configuration/hot-reload.ts';
import { readNamedFile } from '#service/main/configuration/named-files.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';
import { mountFolder, type MountedFolder } from '#test/support/mounted-folder.ts';

const first = manifestOf();
const second = manifestOf((spec) => void (spec['trustedProxies'] = 2));
const third = manifestOf((spec) => void (spec['trustedProxies'] = 3));

describe('the configuration of a running process', () => {
  let folder: MountedFolder;
  let file: string;
  beforeEach(() => {
    folder = mountFolder({ 'tonapi.yaml': first });
    file = folder.file('tonapi.yaml');
  });
  afterEach(() => folder.remove());

  const load = (): Loaded => {
    const text = readNamedFile('--manifest', file);
    const urls = {
      redisUrl: undefined,
      redisCa: undefined,
      postgresUrl: undefined,
      postgresReplicaUrl: undefined,
      postgresCa: undefined,
      tracingCa: undefined,
      metadataCa: undefined,
    };
    return { config: configFromManifest(text), hash: hotHashOfManifest(text), ...urls };
  };

  /** Follows the file, looking when told to. */
  const follow = (apply: (next: Loaded) => void = () => undefined, unread: readonly string[] = []) => {
    const lines: string[] = [];
    const register = new Registry();
    const applied: number[] = [];
    const take = (next: Loaded): void => {
      apply(next);
      applied.push(next.config.trustedProxies);
    };
    const dependencies = {
      load,
      apply: take,
      register,
      logger: pino({}, { write: (line: string) => void lines.push(line) }),
    };
    const reload = createHotReload(load(), { files: [file], pollMs: 3_600_000, unread }, dependencies);
    return { reload, lines, applied, metrics: () => register.metrics() };
  };

  it('is put in force once for each change, whether the file is written, replaced or behind a mount that is swapped', async () => {
    const { reload, applied, metrics } = follow();
    folder.put({ 'tonapi.yaml': second });
    reload.look();
    reload.look();
    writeFileSync(file, third);
    reload.look();
    writeFileSync(`${file}.new`, first);
    renameSync(`${file}.new`, file);
    reload.look();
    expect(applied).toEqual([2, 3, 0]);
    expect(await metrics()).toContain(`ton_config_hash{hash="${hotHashOfManifest(first)}"} 1`);
    reload.close();
  });

  it.each([
    ['is no manifest', () => writeFileSync(file, 'spec: [')],
    ['is gone', () => rmSync(file)],
    [
      'is of another network',
      () =>
        writeFileSync(
          file,
          manifestOf((spec) => void (spec['network'] = 'mainnet')),
        ),
    ],
  ])('stays when the file %s; that is told once', async (_why, spoil) => {
    const { reload, lines, applied, metrics } = follow();
    spoil();
    reload.look();
    reload.look();
    expect(lines.filter((line) => line.includes('refused'))).toHaveLength(1);
    expect(await metrics()).toContain('ton_config_reloads_total{result="refused"} 1');
    writeFileSync(file, second);
    reload.look();
    expect(applied).toEqual([2]);
    reload.close();
  });

  it('waits for what else it depends on: refused for the keys that are, it is tried again', () => {
    let keysAreOld = true;
    const { reload, applied } = follow(() => {
      if (keysAreOld) throw new LimitsError('limit_plan_unknown', ['key x: expected a plan that exists']);
    });
    writeFileSync(file, second);
    reload.look();
    expect([applied, reload.hash]).toEqual([[], hotHashOfManifest(first)]);
    keysAreOld = false;
    reload.look();
    expect([applied, reload.hash]).toEqual([[2], hotHashOfManifest(second)]);
    reload.close();
  });

  it('names what takes effect with the next start only', () => {
    const { reload, lines } = follow();
    writeFileSync(
      file,
      manifestOf((spec) => void (spec['requestTimeout'] = '7s')),
    );
    reload.look();
    expect(lines.at(-1)).toContain('"fields":["requestTimeoutMs"]');
    reload.close();
  });

  it('names nothing that its role does not read', () => {
    const { reload, lines } = follow(undefined, ['indexer']);
    const postgres = { secretRef: { name: 'database' } };
    writeFileSync(
      file,
      manifestOf((spec) => Object.assign(spec, { postgres, indexer: {} })),
    );
    reload.look();
    expect(lines.at(-1)).toContain('"fields":["postgres"]');
    writeFileSync(
      file,
      manifestOf((spec) => Object.assign(spec, { postgres, indexer: { mode: 'Partitioned', partitions: 2 } })),
    );
    reload.look();
    expect(lines.at(-1)).not.toContain('fields');
    reload.close();
  });
});
