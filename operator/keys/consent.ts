import type { TonApi } from '../resource.ts';

/**
 * Returns true if a TonApi accepts keys of a namespace: its own always, others by `keys` (operator/README.md#references-and-consent).
 *
 * @param labels of the key's namespace; undefined while unknown: then labels allow nothing
 */
export function consents(
  { metadata, spec }: TonApi,
  namespace: string,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (namespace === metadata.namespace) return true;
  const { allowedNamespaces = 'Same', selector } = spec.keys ?? {};
  if (allowedNamespaces === 'All') return true;
  if (allowedNamespaces === 'Same' || labels === undefined) return false;
  const wanted = Object.entries(selector?.matchLabels ?? {});
  // A selector without labels selects every namespace, as everywhere in Kubernetes.
  return wanted.every(([name, value]) => labels[name] === value);
}
