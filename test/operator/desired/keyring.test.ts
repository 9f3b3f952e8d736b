import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { buildKeyring, shardsFor } from '#operator/desired/keyring.ts';
import { shardCapacity } from '#operator/desired/mounts.ts';
import { storedKeyring } from '#operator/keys/stored-keyring.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { KeyringRow } from '#operator/service-config.ts';
import { readKeyring } from '#service/limits/keyring-files.ts';
import { references, release, sample } from './samples.ts';

describe('the keyring', () => {
  it.each([
    [0, 0],
    [1, 1],
    [8000, 1],
    [8001, 2],
    [16_001, 4],
    [1_000_000, 128],
  ])('of %i rows has %i shards', (rows, shards) => {
    expect(shardsFor(rows)).toBe(shards);
  });

  it('has the same bytes whatever the order of the rows, and no row is lost', () => {
    const rows = rowsOf(50);
    const once = secretsOf(rows);
    expect(secretsOf(rows.toReversed())).toEqual(once);
    expect([...storedKeyring(once).ids].toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  });

  it('is read by the service as it is mounted, and both make the same hash of it', () => {
    const rows = rowsOf(20_000);
    const secrets = secretsOf(rows);
    expect(secrets).toHaveLength(4);
    const read = mounted(secrets);
    expect(read.keys.size).toBe(rows.length);
    expect(read.sha256).toBe(storedKeyring(secrets).sha256);
    for (const secret of secrets) expect(JSON.stringify(secret).length).toBeLessThan(1024 * 1024);
  });

  it('keeps every row in its old shard while pods have not read the new ones, and the service takes rows twice', () => {
    const rows = rowsOf(9000);
    const settled = secretsOf(rows.slice(0, 8000));
    const growing = secretsOf(rows, 1);
    expect(growing).toHaveLength(2);
    // A pod that has read any mix of old and new shards knows every key that it knew.
    for (const mix of [[growing[0]], growing, [...settled.slice(0, 1), growing[1]]]) {
      const { ids } = storedKeyring(mix.filter((secret) => secret !== undefined));
      for (const { id } of rows.slice(0, 8000)) expect(ids.has(id)).toBe(true);
    }
    expect(mounted(growing).keys.size).toBe(rows.length);
    const { length } = secretsOf(rows, 2);
    expect(length).toBe(2);
    expect(storedKeyring(secretsOf(rows, 2).slice(0, 1)).ids.size).toBeLessThan(rows.length);
  });

  it('never has fewer shards than pods read', () => {
    expect(secretsOf(rowsOf(3), 4)).toHaveLength(4);
  });

  it('changes no template until there are more shards than pods mount', () => {
    expect([1, 16, 17, 64, 65, 256].map(shardCapacity)).toEqual([16, 16, 64, 64, 256, 256]);
    expect(templateWith(rowsOf(40))).toEqual(templateWith([]));
  });

  it('that cannot be read has no keys', () => {
    const odd = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'x-keyring-0' },
      data: { 'keyring.json.gz': 'eA==' },
    };
    expect(storedKeyring([odd]).ids.size).toBe(0);
  });
});

function secretsOf(keyring: readonly KeyringRow[], keyringShardsSettled = 0): KubernetesObject[] {
  return buildKeyring(sample('typical'), references({ keyring, keyringShardsSettled }), release).map(
    ({ object }) => object,
  );
}

/** Rows with hashes as even as real ones. */
function rowsOf(count: number): KeyringRow[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index).padStart(12, 'k'),
    sha256: hash('sha256', String(index)),
    plan: 'pro',
    owner: `ton/customer-${index}`,
  }));
}

function templateWith(keyring: readonly KeyringRow[]): unknown {
  const objects = build(sample('typical'), references({ keyring }), release);
  return objects.find(({ object }) => object.kind === 'Deployment')?.object.spec;
}

/** As the service reads the folder that the kubelet makes of the Secrets. */
function mounted(secrets: readonly KubernetesObject[]) {
  const folder = mkdtempSync(join(tmpdir(), 'keyring-'));
  try {
    for (const { metadata, data } of secrets) {
      const name = `${metadata.name.slice(metadata.name.lastIndexOf('-') + 1)}.json.gz`;
      writeFileSync(join(folder, name), Buffer.from(data?.['keyring.json.gz'] ?? '', 'base64'));
    }
    return readKeyring(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
