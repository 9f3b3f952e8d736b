import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import { keyringFile } from '../desired/mounts.ts';
import { splitKey, type KubernetesObject } from '../kubernetes/object.ts';
import type { KeyringRow } from '../service-config.ts';

/** Content of the stored keyring Secrets, which pods are to load. */
export type StoredKeyring = {
  readonly ids: ReadonlySet<string>;
  /** Hash that a pod reports after reading exactly this: SHA-256 over the unpacked files in order of their names. */
  readonly sha256: string;
};

/** A shard unpacked is a few megabytes at most; more is none of ours. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024;

/** Reads keyring Secrets. An unreadable Secret counts as empty, because the next reconcile writes it again. */
export function storedKeyring(secrets: readonly KubernetesObject[]): StoredKeyring {
  const ids = new Set<string>();
  const digest = createHash('sha256');
  for (const { text } of secrets.map(fileOf).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    digest.update(text);
    for (const [, id] of text.matchAll(/^\{"id":"([0-9A-Za-z]{12})"/gm)) ids.add(id ?? '');
  }
  return { ids, sha256: digest.digest('hex') };
}

/** Rows of keyring Secrets whose owner is in a namespace that `isUnknown`. They stay in force while the namespace cannot be read. */
export function rowsOfUnknown(
  secrets: readonly KubernetesObject[],
  isUnknown: (namespace: string) => boolean,
): readonly KeyringRow[] {
  const rows = new Map<string, KeyringRow>();
  for (const { text } of secrets.map(fileOf)) {
    for (const row of parseRows(text)) if (isUnknown(splitKey(row.owner ?? '').namespace)) rows.set(row.id, row);
  }
  return [...rows.values()];
}

function parseRows(text: string): readonly KeyringRow[] {
  try {
    return (JSON.parse(text) as { readonly keys?: readonly KeyringRow[] }).keys ?? [];
  } catch {
    return [];
  }
}

/** The file that pods see of a Secret: `NAME-keyring-3` is `3.json.gz`. */
function fileOf({ metadata, data }: KubernetesObject): { readonly name: string; readonly text: string } {
  const name = `${metadata.name.slice(metadata.name.lastIndexOf('-') + 1)}.json.gz`;
  try {
    const packed = Buffer.from(data?.[keyringFile] ?? '', 'base64');
    return { name, text: gunzipSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).toString('utf8') };
  } catch {
    return { name, text: '' };
  }
}
