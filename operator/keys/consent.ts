import type { TonApi } from '../resource.ts';

/**
 * Whether a TonApi lets keys of a namespace point at it (operator sheet 2.2): its own always, others as its `keys` say.
 *
 * @param labels of the key's namespace; undefined while they are not known, and then nothing is allowed by them
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
