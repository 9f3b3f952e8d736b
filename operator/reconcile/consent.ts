import { consents } from '../keys/consent.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { Clock } from '../kubernetes/clock.ts';
import { isApiError } from '../kubernetes/errors.ts';
import { resources } from '../kubernetes/resources.ts';
import type { TonApi, TonApiKey } from '../resource.ts';

/** True if a TonApi lets a key refer to it. */
export type Consent = (tonApi: TonApi, tonApiKey: TonApiKey, bounds: RequestBounds) => Promise<boolean>;

/** Labels of namespaces change seldom; one that does counts within this. */
const LABELS_AGE_MAX_MS = 60_000;

/** Labels of namespaces are read only where a TonApi selects by them: one at a time, by name. */
export function createConsent({
  client,
  clock,
}: {
  readonly client: KubernetesClient;
  readonly clock: Clock;
}): Consent {
  const known = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>> | undefined; readonly atMs: number }
  >();

  async function labelsOf(name: string, bounds: RequestBounds): Promise<Readonly<Record<string, string>> | undefined> {
    const found = known.get(name);
    if (found !== undefined && clock.now() - found.atMs < LABELS_AGE_MAX_MS) return found.labels;
    const labels = await read(name, bounds);
    known.set(name, { labels, atMs: clock.now() });
    return labels;
  }

  /** Without the right to read the namespace its labels are unknown and allow nothing. */
  async function read(name: string, bounds: RequestBounds): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const namespace = await client.getMetadata(resources.Namespace, { name }, bounds);
      return namespace?.metadata.labels ?? {};
    } catch (error) {
      if (isApiError(error, 'forbidden')) return undefined;
      throw error;
    }
  }

  return async (tonApi, { metadata }, bounds) => {
    const { namespace = '' } = metadata;
    const mustLook = namespace !== tonApi.metadata.namespace && tonApi.spec.keys?.allowedNamespaces === 'Selector';
    return consents(tonApi, namespace, mustLook ? await labelsOf(namespace, bounds) : undefined);
  };
}
