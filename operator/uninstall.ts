import { trace } from '@opentelemetry/api';
import type { Registry } from 'prom-client';

import { UninstallError, usageError } from './errors.ts';
import { revokeFinalizer } from './keys/key.ts';
import { createClient, type KubernetesClient, type RequestBounds } from './kubernetes/client.ts';
import { pause, systemClock } from './kubernetes/clock.ts';
import { createCredentials } from './kubernetes/credentials.ts';
import { isApiError } from './kubernetes/errors.ts';
import { createClientMetrics } from './kubernetes/metrics.ts';
import type { KubernetesObject } from './kubernetes/object.ts';
import { resources } from './kubernetes/resources.ts';
import type { OperatorOptions } from './options.ts';

/** Helm waits five minutes for a hook. */
const UNINSTALL_TIMEOUT_MS = 240_000;

/** Time between two reads of the Deployment while its pods end. */
const POLL_MS = 1000;

const PAGE_LIMIT = 500;

/**
 * Prepares the end of an operator: scales its Deployment to none, then removes the operator's finalizer from every TonApiKey.
 * Keys and namespaces can then be deleted without an operator. Keys stay in force and TonApis continue to serve.
 * A namespace whose keys the API server refuses is named in the sentence. It does not stop the uninstall, because it may be deleted.
 *
 * @returns a sentence for the log
 * @throws OptionsError without the name of the Deployment
 * @throws UninstallError when its pods do not end within four minutes
 * @throws ApiError when the API server refuses
 */
export async function uninstall(
  options: Pick<OperatorOptions, 'deployment' | 'kubeconfig' | 'namespace' | 'namespaces'>,
  { register }: { readonly register: Registry },
): Promise<string> {
  const { deployment } = options;
  if (deployment === undefined) throw usageError('--deployment: expected the name of the Deployment of the operator');
  const credentials = await createCredentials(options, { now: systemClock.now });
  const client = createClient({
    credentials,
    metrics: createClientMetrics(register),
    tracer: trace.getTracer('ton-operator'),
    now: systemClock.now,
  });
  const bounds = { signal: AbortSignal.timeout(UNINSTALL_TIMEOUT_MS) };
  try {
    await stopOperator(client, { namespace: options.namespace ?? credentials.namespace, name: deployment }, bounds);
    const { keys, refused } = await keysOf(client, options.namespaces, bounds);
    const marked = keys.filter(({ metadata }) => metadata.finalizers?.includes(revokeFinalizer));
    for (const key of marked) await removeFinalizer(client, key, bounds);
    const rest =
      refused.length === 0
        ? ''
        : `; the API server refuses to list those of ${refused.join(', ')}, which keep their finalizer where a namespace is there`;
    return `the operator is stopped; ${marked.length} of ${keys.length} TonApiKeys lost their finalizer${rest}\n`;
  } finally {
    await credentials.close();
  }
}

/** A running operator would add the finalizer again. A Deployment that is gone has no pods. */
async function stopOperator(
  client: KubernetesClient,
  name: { readonly namespace: string | undefined; readonly name: string },
  bounds: RequestBounds & { readonly signal: AbortSignal },
): Promise<void> {
  if ((await client.get(resources.Deployment, name, bounds)) === undefined) return;
  await client.patch(resources.Deployment, name, { spec: { replicas: 0 } }, bounds);
  for (;;) {
    const live = await client.get(resources.Deployment, name);
    const { observedGeneration = 0, replicas = 0 } = (live?.['status'] ?? {}) as {
      observedGeneration?: number;
      replicas?: number;
    };
    const isSeen = live === undefined || observedGeneration >= (live.metadata.generation ?? 0);
    if (isSeen && replicas === 0) return;
    if (bounds.signal.aborted) {
      const message = `Deployment ${name.name}: expected no pods, got ${replicas}`;
      throw new UninstallError({ code: 'pods_remain', message, data: { pods: replicas }, retryable: true });
    }
    await pause(systemClock, POLL_MS, bounds.signal);
  }
}

async function keysOf(
  client: KubernetesClient,
  namespaces: readonly string[] | undefined,
  bounds: RequestBounds,
): Promise<{ readonly keys: readonly KubernetesObject[]; readonly refused: readonly string[] }> {
  const keys: KubernetesObject[] = [];
  const refused: string[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    try {
      keys.push(...(await keysIn(client, namespace, bounds)));
    } catch (error) {
      // The keys are gone with their definition.
      if (isApiError(error, 'not_found')) continue;
      // The Role of a deleted namespace is gone with it.
      if (!isApiError(error, 'forbidden')) throw error;
      refused.push(namespace ?? 'all namespaces');
    }
  }
  return { keys, refused };
}

async function keysIn(
  client: KubernetesClient,
  namespace: string | undefined,
  bounds: RequestBounds,
): Promise<KubernetesObject[]> {
  const found: KubernetesObject[] = [];
  let continueAt: string | undefined;
  do {
    const page = await client.list(resources.TonApiKey, { namespace, limit: PAGE_LIMIT, continueAt }, bounds);
    found.push(...page.items);
    ({ continueAt } = page);
  } while (continueAt !== undefined);
  return found;
}

/** Removes our finalizer alone. The version guards against the loss of another's. */
async function removeFinalizer(client: KubernetesClient, key: KubernetesObject, bounds: RequestBounds): Promise<void> {
  const { name, namespace } = key.metadata;
  for (;;) {
    // The rights of the operator have no `get` of keys.
    const query = { namespace, fieldSelector: `metadata.name=${name}` };
    const [live] = (await client.list(resources.TonApiKey, query, bounds)).items;
    if (live === undefined) return;
    const { finalizers = [], resourceVersion } = live.metadata;
    const metadata = { finalizers: finalizers.filter((finalizer) => finalizer !== revokeFinalizer), resourceVersion };
    try {
      await client.patch(resources.TonApiKey, { name, namespace }, { metadata }, bounds);
      return;
    } catch (error) {
      if (isApiError(error, 'not_found')) return;
      if (!isApiError(error, 'conflict')) throw error;
    }
  }
}
