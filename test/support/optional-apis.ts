import { setTimeout as sleep } from 'node:timers/promises';

import { collectionPath, optionalKinds, resources, type OptionalKind } from '#operator/kubernetes/resources.ts';

import type { ClusterClient } from './cluster-client.ts';
import { optionalDefinition } from './optional-api-source.ts';

const servedTimeoutMs = 30_000;
const pollMs = 50;

/** Applies the neighbours' own definitions of the kinds, and waits until their resources are served. */
export async function applyOptionalApis(
  client: ClusterClient,
  kinds: readonly OptionalKind[] = optionalKinds,
): Promise<void> {
  for (const kind of kinds) {
    const definition = optionalDefinition(kind);
    const { name } = definition.metadata;
    await client.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`, definition);
  }
  const deadline = Date.now() + servedTimeoutMs;
  for (const kind of kinds) {
    const path = collectionPath(resources[kind], undefined);
    while ((await client.list(path).catch(() => undefined)) === undefined) {
      if (Date.now() > deadline) throw new Error(`${path} is not served`);
      await sleep(pollMs);
    }
  }
}
