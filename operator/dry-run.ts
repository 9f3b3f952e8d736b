import { trace } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { parseAllDocuments } from 'yaml';

import { autoscalingProblem, metricsApis } from './desired/autoscaler.ts';
import type { Change } from './diff/diff.ts';
import { PlanError, usageError } from './errors.ts';
import { createClient, type KubernetesClient } from './kubernetes/client.ts';
import { pause, systemClock, type Clock } from './kubernetes/clock.ts';
import { createCredentials } from './kubernetes/credentials.ts';
import { createDiscovery } from './kubernetes/discovery.ts';
import { isApiError } from './kubernetes/errors.ts';
import { createClientMetrics, createWatchMetrics } from './kubernetes/metrics.ts';
import type { KubernetesObject } from './kubernetes/object.ts';
import { resourceOf } from './kubernetes/resources.ts';
import { manager } from './desired/names.ts';
import type { OperatorOptions } from './options.ts';
import { plannedTexts, type PlannedTexts } from './planned-texts.ts';
import { createCanaryWatch } from './reconcile/canary-watch.ts';
import { createCaches, type Caches } from './reconcile/caches.ts';
import { createConsent } from './reconcile/consent.ts';
import { decide } from './reconcile/decide.ts';
import { observe } from './reconcile/observation.ts';
import { planSummary, planText } from './reconcile/plan-text.ts';
import type { PodFetch } from './reconcile/pod-reports.ts';
import { createReferencedTexts } from './reconcile/references.ts';
import { plan } from './reconcile/tonapi.ts';
import { releaseOf } from './release.ts';
import { apiVersion, type TonApi } from './resource.ts';

type DryRunDependencies = {
  readonly version: string;
  readonly logger: Logger;
  readonly register: Registry;
  readonly fetchPage: PodFetch;
  /** Text of the manifest that `--file` names. */
  readonly manifest: string | undefined;
  /** Only TonApis of this namespace are planned. It is that of a manifest that names none. Undefined: all, and `default`. */
  readonly namespace?: string | undefined;
};

/** A plan is a snapshot and ignores later events. */
const ignore = (): void => {};

/** Time between two looks whether a watch is refused. */
const SYNC_POLL_MS = 100;

/** Longest plan of all TonApis of a cluster. */
const PLAN_TIMEOUT_MS = 600_000;

/**
 * Returns the changes for every TonApi, or for the one of the manifest, as text; writes nothing (operator/README.md#plan-mode).
 * The server checks each change as a dry run, so refusals are in the text too.
 */
export async function dryRunAll(
  options: OperatorOptions & { readonly context?: string | undefined },
  dependencies: DryRunDependencies,
): Promise<PlannedTexts> {
  const { logger, register, version } = dependencies;
  const clock = systemClock;
  const credentials = await createCredentials(options, { now: clock.now });
  const tracer = trace.getTracer('ton-operator');
  const client = createClient({ credentials, metrics: createClientMetrics(register), tracer, now: clock.now });
  const bounds = { signal: AbortSignal.timeout(PLAN_TIMEOUT_MS) };
  const discovery = await createDiscovery({
    client,
    clock,
    logger,
    ignoredGroups: options.ignoredApis,
    onChange: ignore,
  });
  const caches = createCaches(
    { namespaces: options.namespaces, served: discovery.served() },
    {
      client,
      clock,
      random: Math.random,
      logger,
      metrics: createWatchMetrics(register),
      onTonApi: ignore,
      onTonApiKey: ignore,
    },
  );
  const parts = {
    client,
    caches,
    clock,
    release: releaseOf(options, version),
    upgradePolicy: options.rollouts.upgradePolicy,
    served: discovery.served,
    texts: createReferencedTexts({ client }),
    // Pods are not asked: a plan is about objects.
    reports: { read: async () => new Map() },
    mounts: { read: async () => ({ problems: [], requeueAfterMs: undefined }) },
    consent: createConsent({ client, clock }),
    // In a plan every TonApi has a turn: a plan shows what happens, not when.
    rollouts: { ask: () => ({ granted: true }) as const },
    canaries: createCanaryWatch({ port: 0 }, { fetchPage: dependencies.fetchPage, clock }),
  };

  async function planOf(tonApi: TonApi): Promise<{ changes: readonly Change[]; problems: readonly string[] }> {
    const seen = await observe(tonApi, parts, bounds);
    const decision = await decide(tonApi, seen, parts, bounds.signal);
    const first = await plan(tonApi, seen, decision, parts, bounds);
    // The cache lacks the managers of fields. They decide which fields would go.
    const children = await Promise.all(seen.children.map((child) => whole(client, child, first.changes, bounds)));
    const { changes } = await plan(tonApi, { ...seen, children }, decision, parts, bounds);
    const scaling = autoscalingProblem(tonApi, seen.references, parts.release);
    const missing = [...seen.problems, ...(scaling ? [scaling] : [])].map(({ message }) => message);
    return { changes, problems: [...missing, ...(await unservedMetrics(client, tonApi, bounds))].map(asLine) };
  }

  async function textOf(tonApi: TonApi): Promise<string> {
    const { changes, problems } = await planOf(tonApi);
    const refused = await dryRun(client, changes, bounds);
    return `${planSummary(changes)}\n${planText(changes)}${[...problems, ...refused].join('')}`;
  }

  try {
    await syncedOrRefused(caches, clock, bounds.signal);
    const tonApis =
      dependencies.manifest === undefined
        ? caches.tonApis().filter(({ metadata }) => [undefined, metadata.namespace].includes(dependencies.namespace))
        : await Promise.all(
            readTonApis(dependencies.manifest, dependencies.namespace).map((tonApi) =>
              asStored(client, tonApi, bounds),
            ),
          );
    return await plannedTexts(tonApis, textOf, bounds.signal);
  } finally {
    await Promise.all([caches.close(), discovery.close()]);
    await credentials.close();
  }
}

function asLine(problem: string): string {
  return `missing: ${problem}\n`;
}

/** The metrics that a HorizontalPodAutoscaler of the TonApi would ask for in vain. */
async function unservedMetrics(client: KubernetesClient, tonApi: TonApi, bounds: Bounds): Promise<string[]> {
  const asked = await Promise.all(
    metricsApis(tonApi).map(async (api) => ({ ...api, found: await client.read(`/apis/${api.group}`, bounds) })),
  );
  return asked
    .filter(({ found }) => found === undefined)
    .map(({ group, from }) => `the cluster serves no ${group}, so nothing scales by it: install ${from}`);
}

type Bounds = { readonly signal: AbortSignal };

/** The server refuses a watch without its right, and the caches never have all. */
async function syncedOrRefused(caches: Caches, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!caches.hasSynced() && !caches.forbidden()) {
    signal.throwIfAborted();
    await Promise.race([caches.synced, pause(clock, SYNC_POLL_MS, signal)]);
  }
  if (!caches.hasSynced())
    throw new PlanError({ code: 'forbidden', message: forbiddenText, data: {}, retryable: false });
}

const forbiddenText =
  'plan: expected the rights of the operator, to list and watch every kind of its objects; kubectl auth can-i --list shows yours';

function readTonApis(manifest: string, namespace = 'default'): TonApi[] {
  const documents = [...parseAllDocuments(manifest)].map((document) => document.toJS() as TonApi | null);
  const found = documents.filter((document) => document?.kind === 'TonApi').filter((document) => document !== null);
  if (found.length === 0) throw usageError('--file: expected a document of kind TonApi');
  return found.map((document) => ({
    ...document,
    // All versions have the same form.
    apiVersion,
    metadata: { ...document.metadata, namespace: document.metadata.namespace ?? namespace },
  }));
}

/** The TonApi as the server would store it: with defaults, checked rules, and the UID of the existing object. */
async function asStored(client: KubernetesClient, tonApi: TonApi, bounds: Bounds): Promise<TonApi> {
  const { status: _status, ...given } = tonApi;
  const stored = await client.apply(given, { manager: `${manager}-plan`, force: true, dryRun: true }, bounds);
  return stored as TonApi;
}

async function whole(
  client: KubernetesClient,
  child: KubernetesObject,
  changes: readonly Change[],
  bounds: Bounds,
): Promise<KubernetesObject> {
  const changed = changes.some((change) => change.action === 'update' && change.live === child);
  return changed ? ((await client.get(resourceOf(child), child.metadata, bounds)) ?? child) : child;
}

/** Changes that the server would refuse, one line each. */
async function dryRun(client: KubernetesClient, changes: readonly Change[], bounds: Bounds): Promise<string[]> {
  const lines: string[] = [];
  for (const change of changes) {
    if (change.action !== 'create' && change.action !== 'update') continue;
    try {
      await client.apply(change.desired.object, { manager, force: true, dryRun: true }, bounds);
    } catch (error) {
      if (!isApiError(error, 'refused', 'forbidden', 'conflict', 'server')) throw error;
      lines.push(`the server would refuse: ${error.message}\n`);
    }
  }
  return lines;
}
