import type { ClusterClient } from './cluster-client.ts';

/** A namespace of its own for a test file: a given cluster may hold anything, and other files run on it at the same time. */
export async function createNamespace(
  client: ClusterClient,
  stem: string,
): Promise<{ readonly name: string; delete(): Promise<void> }> {
  const { metadata } = await client.create('/api/v1/namespaces', { metadata: { generateName: `${stem}-` } });
  return { name: metadata.name, delete: () => client.delete(`/api/v1/namespaces/${metadata.name}`) };
}
