import { trace } from '@opentelemetry/api';

import { createLogger } from '#service/telemetry/logger.ts';
import { createRegister } from '#service/telemetry/register.ts';
import { manager } from '../desired/names.ts';
import { dryRunAll } from '../dry-run.ts';
import { PluginError } from '../errors.ts';
import { createClient, type KubernetesClient, type ListQuery } from '../kubernetes/client.ts';
import { systemClock } from '../kubernetes/clock.ts';
import { createCredentials } from '../kubernetes/credentials.ts';
import { createClientMetrics } from '../kubernetes/metrics.ts';
import { keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import { resources, type Resource } from '../kubernetes/resources.ts';
import { fetchFromPod } from '../pod-fetch.ts';
import type { TonApi, TonApiKey } from '../resource.ts';
import { jsonText, tableText, type Listing } from './listing.ts';
import { operatorOptions } from './operator-flags.ts';
import type { PluginOptions } from './options.ts';
import { conditionListing, keyListing, podListing, tonApiListing } from './resources.ts';
import { top } from './top.ts';

/** Output of a command for standard output, and sentences for standard error. A problem makes the exit code 1. */
export type PluginOutput = { readonly text: string; readonly problems: readonly string[] };

type PluginDependencies = {
  readonly version: string;
  /** Text of the manifest that `--filename` names. */
  readonly manifest: string | undefined;
};

/** Namespace of a context that names none, as kubectl has it. */
const DEFAULT_NAMESPACE = 'default';

const PAGE_LIMIT = 500;

/** Longest command, `plan` aside. `top` waits up to 300 s between its reads. */
const COMMAND_TIMEOUT_MS = 600_000;

/**
 * Runs one command of the plugin.
 *
 * @throws PluginError for a TonApi that is not there
 * @throws ApiError when the API server refuses
 */
export async function runPlugin(options: PluginOptions, dependencies: PluginDependencies): Promise<PluginOutput> {
  const register = createRegister({ version: dependencies.version, commit: 'unknown' });
  const credentials = await createCredentials(options, { now: systemClock.now });
  const client = createClient({
    credentials,
    metrics: createClientMetrics(register),
    tracer: trace.getTracer('kubectl-ton'),
    now: systemClock.now,
  });
  const namespace = options.allNamespaces
    ? undefined
    : (options.namespace ?? credentials.namespace ?? DEFAULT_NAMESPACE);
  const place: Place = { client, namespace, signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS) };
  try {
    if (options.command === 'plan') return await planned(options, place, dependencies);
    if (options.command === 'status' && options.name !== undefined) return await statusOf(options, options.name, place);
    const { listing, problems = [] } = await listingOf(options, place);
    if (listing.rows.length === 0 && problems.length === 0) await mustExist(options.name, place);
    return { text: rendered(listing, options.output), problems };
  } finally {
    await credentials.close();
  }
}

/** API server, and the namespace of the command; undefined: all. */
type Place = {
  readonly client: KubernetesClient;
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
};

async function listingOf(
  options: PluginOptions,
  place: Place,
): Promise<{ listing: Listing; problems?: readonly string[] }> {
  const { command, name } = options;
  const nowMs = systemClock.unixMs();
  if (command === 'status') {
    return { listing: tonApiListing((await listAll(place, resources.TonApi)) as TonApi[], nowMs) };
  }
  if (command === 'keys') {
    const fieldSelector = name === undefined ? undefined : `spec.apiRef.name=${name}`;
    return {
      listing: keyListing((await listAll(place, resources.TonApiKey, { fieldSelector })) as TonApiKey[], nowMs),
    };
  }
  const instance = name === undefined ? [] : [`app.kubernetes.io/instance=${name}`];
  const labelSelector = [`app.kubernetes.io/managed-by=${manager}`, ...instance].join(',');
  const pods = await listAll(place, resources.Pod, { labelSelector });
  if (command === 'pods') return { listing: podListing(pods, nowMs) };
  return top(pods, options.intervalSeconds, { client: place.client, clock: systemClock, signal: place.signal });
}

/** A TonApi with its conditions. In JSON it is the object of the API server. */
async function statusOf({ output }: PluginOptions, name: string, place: Place): Promise<PluginOutput> {
  const tonApi = await find(name, place);
  if (output === 'json') return { text: `${JSON.stringify(tonApi, null, 2)}\n`, problems: [] };
  const nowMs = systemClock.unixMs();
  const conditions = conditionListing(tonApi.status?.conditions ?? [], nowMs);
  return { text: `${tableText(tonApiListing([tonApi], nowMs))}\n${tableText(conditions)}`, problems: [] };
}

/** The plan of the operator that runs in the cluster: its flags decide on images and names. */
async function planned(
  options: PluginOptions,
  { client, namespace, signal }: Place,
  { version, manifest }: PluginDependencies,
): Promise<PluginOutput> {
  const { operator, note } = await operatorOptions(options, { client, namespace, version, signal });
  if (note !== undefined) process.stderr.write(`kubectl-ton: ${note}\n`);
  return dryRunAll(
    { ...operator, kubeconfig: options.kubeconfig, context: options.context },
    {
      version,
      register: createRegister({ version, commit: 'unknown' }),
      logger: createLogger({ level: 'error', base: { role: 'plan' } }, process.stderr),
      fetchPage: fetchFromPod,
      manifest,
      namespace,
    },
  );
}

/** An empty answer about a name may be a wrong name. */
async function mustExist(name: string | undefined, place: Place): Promise<void> {
  if (name !== undefined && place.namespace !== undefined) await find(name, place);
}

async function find(name: string, { client, namespace, signal }: Place): Promise<TonApi> {
  const found = await client.get(resources.TonApi, { name, namespace }, { signal });
  if (found === undefined) {
    const message = `TonApi ${namespace}/${name}: not found; kubectl ton status shows those that are there`;
    throw new PluginError({ code: 'not_found', message, data: {}, retryable: false });
  }
  return found as TonApi;
}

/** All objects, ordered by namespace and name. */
async function listAll(
  { client, namespace, signal }: Place,
  resource: Resource,
  selectors: Pick<ListQuery, 'labelSelector' | 'fieldSelector'> = {},
): Promise<KubernetesObject[]> {
  const found: KubernetesObject[] = [];
  let continueAt: string | undefined;
  do {
    const page = await client.list(resource, { namespace, limit: PAGE_LIMIT, continueAt, ...selectors }, { signal });
    found.push(...page.items);
    ({ continueAt } = page);
  } while (continueAt !== undefined);
  return found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function rendered(listing: Listing, output: PluginOptions['output']): string {
  return output === 'json' ? jsonText(listing) : tableText(listing);
}
