import { describe, expect, it } from 'vitest';

import {
  changedCold,
  configFromGlobalConfig,
  configFromManifest,
  hotHashOfManifest,
  secretsOfManifest,
} from '#service/config.ts';

import { globalConfig } from '#test/operator/desired/samples.ts';

import { manifestOf } from './manifest-builder.ts';

const postgres = { secretRef: { name: 'database' }, readOnlySecretRef: { name: 'replica', key: 'url' } };

const indexed = (changes: object = {}): string =>
  manifestOf((spec) => Object.assign(spec, { surfaces: ['v2', 'v3'], postgres, indexer: {}, ...changes }));

/** Returns a Secret as a further document. */
const secret = (name: string, field: string, data: object): string =>
  `---\n${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, [field]: data })}\n`;

describe('the index in a manifest', () => {
  it('the index has a schema, a pool and a first block by default, and no secret', () => {
    expect(configFromManifest(indexed())).toMatchObject({
      postgres: {
        secret: { name: 'database', key: 'uri' },
        readOnlySecret: { name: 'replica', key: 'url' },
        schema: 'ton',
        poolSize: 10,
        replicaMaxLagMs: 30_000,
      },
      indexer: { partitions: 1, startSeqno: 1 },
    });
  });

  it.each<[object, number | undefined, number]>([
    [{}, undefined, 1],
    [{ startSeqno: 1000 }, undefined, 1000],
    [{ startSeqno: 1000 }, 2000, 2000],
    [{}, 2000, 2000],
  ])('the index begins at the block of %o and of the command line (%s)', (indexer, startSeqno, expected) => {
    expect(configFromManifest(indexed({ indexer }), { startSeqno }).indexer?.startSeqno).toBe(expected);
  });

  it('another process may write the index, or there is no index', () => {
    expect(configFromManifest(indexed({ indexer: undefined }))).toMatchObject({ indexer: null });
    expect(configFromManifest(manifestOf(() => {}))).toMatchObject({ postgres: null, indexer: null });
  });

  it('the index is cold: a change is reported by its name and does not change the hot hash', () => {
    const [before, after] = [
      indexed(),
      indexed({ postgres: { ...postgres, poolSize: 20 }, indexer: { startSeqno: 5 } }),
    ];
    expect(changedCold(configFromManifest(before), configFromManifest(after))).toEqual(['postgres', 'indexer']);
    expect(hotHashOfManifest(after)).toBe(hotHashOfManifest(before));
  });

  it.each([
    ['1s', 1000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
  ])('the primary is asked beyond a lag of %s of the replica', (replicaMaxLag, replicaMaxLagMs) => {
    const { postgres: found } = configFromManifest(indexed({ postgres: { ...postgres, replicaMaxLag } }));
    expect(found).toMatchObject({ replicaMaxLagMs });
  });

  it.each(['0s', '999ms', '1h1s'])('a replica may not lag by %s', (replicaMaxLag) => {
    const text = indexed({ postgres: { ...postgres, replicaMaxLag } });
    expect(() => configFromManifest(text)).toThrow(
      `spec.postgres.replicaMaxLag: expected a duration from 1s to 1h, got ${replicaMaxLag}`,
    );
  });

  it('the index takes its URLs from Secrets in the same file', () => {
    const [url, replica] = ['postgres://user:password@main/ton', 'postgres://user:password@replica/ton'];
    const stored = secret('database', 'data', { uri: Buffer.from(`${url}\n`).toString('base64') });
    const given = secret('replica', 'stringData', { url: replica });
    expect(secretsOfManifest(`${indexed()}${stored}${given}`)).toMatchObject({
      postgresUrl: url,
      postgresReplicaUrl: replica,
    });
    expect(secretsOfManifest(indexed())).toMatchObject({ postgresUrl: undefined, postgresReplicaUrl: undefined });
  });
});

describe('the index without a manifest', () => {
  it('the index exists without a manifest when a database is named', () => {
    expect(configFromGlobalConfig(globalConfig, 'mainnet', { database: true, startSeqno: 9 })).toMatchObject({
      surfaces: ['v2', 'v3', 'emulate', 'stream', 'explorer'],
      postgres: { secret: null, readOnlySecret: null, schema: 'ton', poolSize: 10, replicaMaxLagMs: 30_000 },
      indexer: { partitions: 1, startSeqno: 9 },
    });
    expect(configFromGlobalConfig(globalConfig, 'mainnet')).toMatchObject({
      surfaces: ['v2', 'emulate'],
      postgres: null,
      indexer: null,
    });
  });
});
