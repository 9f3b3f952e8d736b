import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { parse } from 'yaml';

import { ClusterError, type ClusterClient, type ClusterObject } from './cluster-client.ts';

const folder = resolve(import.meta.dirname, '../../crds');
const servedTimeoutMs = 30_000;
const pollMs = 50;

/** The custom resource definitions, as written. */
export const definitions = ['tonapis', 'tonapikeys'].map(
  (plural) => parse(readFileSync(join(folder, `${plural}.tonplane.dev.yaml`), 'utf8')) as ClusterObject,
);

/** Applies both definitions and waits until their resources are served: after 404 comes 429 for a moment (operator/README.md#definitions). */
export async function applyDefinitions(client: ClusterClient): Promise<void> {
  for (const definition of definitions) {
    const { name } = definition.metadata;
    await client.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`, definition);
  }
  const deadline = Date.now() + servedTimeoutMs;
  for (const { spec } of definitions) {
    while (!(await isServed(client, spec.names.plural))) {
      if (Date.now() > deadline) throw new Error(`${spec.names.plural} are not served`);
      await sleep(pollMs);
    }
  }
}

async function isServed(client: ClusterClient, plural: string): Promise<boolean> {
  try {
    await client.list(`/apis/tonplane.dev/v1alpha1/${plural}`);
    return true;
  } catch (error) {
    if (error instanceof ClusterError && [404, 429].includes(error.status)) return false;
    throw error;
  }
}
