import { gzipSync } from 'node:zlib';

import type { TonApi } from '../resource.ts';
import type { KeyringRow } from '../service-config.ts';
import { child } from './child.ts';
import { keyringFile } from './mounts.ts';
import { childAnnotations, childNames } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

/** Approximate rows of a shard. With all fields set, 8,000 rows are about 600 kB of gzip; a Secret takes 1 MiB. */
const SHARD_ROWS_MAX = 8_000;

/** Bits of the hash that choose a shard; more shards than 2^16 are never mounted. */
const PREFIX_BITS = 16;

/** Number of shards for the rows: 0 for none, else a power of two. A full shard therefore splits in two. */
export function shardsFor(rows: number): number {
  if (rows === 0) return 0;
  return 2 ** Math.ceil(Math.log2(Math.max(1, rows / SHARD_ROWS_MAX)));
}

/** Shards that are written: as many as are needed, and not fewer than pods still read. */
export function shardCount({
  keyring,
  keyringShardsSettled,
}: Pick<References, 'keyring' | 'keyringShardsSettled'>): number {
  return Math.max(shardsFor(keyring.length), keyringShardsSettled);
}

/**
 * Builds the keyring as Secrets, sharded by the start of the hash (operator/README.md#children).
 * Secrets reach a pod separately. A row therefore stays in its old and its new shard until every pod has read all shards.
 */
export function buildKeyring(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const shards = shardCount(references);
  const settled = references.keyringShardsSettled;
  const files = Array.from({ length: shards }, (): KeyringRow[] => []);
  for (const row of references.keyring) {
    const targets = new Set([shardOf(row, shards), ...(settled > 0 ? [shardOf(row, settled)] : [])]);
    for (const target of targets) files[target]?.push(row);
  }
  return files.map((rows, shard) =>
    child(tonApi, release.version, {
      stage: 'config',
      component: 'keyring',
      apiVersion: 'v1',
      kind: 'Secret',
      name: childNames(tonApi).keyring(shard),
      annotations: { [childAnnotations.keyringShards]: String(shards) },
      body: { type: 'Opaque', data: { [keyringFile]: fileOf(rows) } },
    }),
  );
}

/** The low bits of the prefix choose the shard. Doubling the number splits shard i into i and i + shards. */
function shardOf({ sha256 }: KeyringRow, shards: number): number {
  return Number.parseInt(sha256.slice(0, PREFIX_BITS / 4), 16) % shards;
}

/**
 * Rows in order of their ids, as base64 of gzip. Equal rows give equal bytes, because the gzip header has no time here.
 * Hashes hardly compress, so the lowest level gives the same size in half the time.
 */
function fileOf(rows: readonly KeyringRow[]): string {
  const lines = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(rowText);
  return gzipSync(`{"keys":[\n${lines.join(',\n')}\n]}\n`, { level: 1 }).toString('base64');
}

/** `id` and `sha256` first, because such rows are read fastest. The order of fields does not depend on the input. */
function rowText(row: KeyringRow): string {
  const { id, sha256, plan, owner, networks, notAfter, allowedMethods, allowedSources, overrides } = row;
  return JSON.stringify({
    id,
    sha256,
    plan,
    owner,
    networks,
    notAfter,
    allowedMethods,
    allowedSources,
    overrides: overrides && { requestsPerSecond: overrides.requestsPerSecond, burst: overrides.burst },
  });
}
