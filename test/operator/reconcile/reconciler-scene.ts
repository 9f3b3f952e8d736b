import { trace } from '@opentelemetry/api';

import { childNames } from '#operator/desired/names.ts';
import type { Release } from '#operator/desired/references.ts';
import { fromStatus } from '#operator/kubernetes/errors.ts';
import { keyOf, type KubernetesObject } from '#operator/kubernetes/object.ts';
import { optionalKinds } from '#operator/kubernetes/resources.ts';
import { createRolloutQueue } from '#operator/reconcile/rollout-queue.ts';
import { createTonApiReconciler } from '#operator/reconcile/tonapi.ts';
import type { TonApi } from '#operator/resource.ts';
import { globalConfig, release } from '#test/operator/desired/samples.ts';
import type { VirtualClock } from '#test/support/virtual-clock.ts';

type Dependencies = Parameters<typeof createTonApiReconciler>[0];

function ignore(): undefined {
  return undefined;
}

function placeOf(object: KubernetesObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

/** Objects of an API server in memory, with the answers that a test wants. Deployments are out at once, unless they are slow. */
function memoryServer(tonApis: readonly TonApi[]) {
  const stored = new Map<string, TonApi>(tonApis.map((tonApi) => [keyOf(tonApi), tonApi]));
  const children = new Map<string, KubernetesObject>();
  /** Answers to the writes of a kind, or of one object by kind and key, until a test removes them. */
  const refused = new Map<string, { readonly status: number; readonly message: string }>();
  let areSlow = false;

  function outStatus(generation: number, wanted: unknown): Record<string, unknown> {
    const replicas = typeof wanted === 'number' ? wanted : 1;
    const updated = areSlow ? 0 : replicas;
    const counts = { replicas, readyReplicas: replicas, updatedReplicas: updated, availableReplicas: updated };
    return { observedGeneration: generation, ...counts };
  }

  async function write(object: KubernetesObject): Promise<KubernetesObject> {
    const answer = refused.get(object.kind) ?? refused.get(placeOf(object));
    if (answer !== undefined) throw fromStatus(`PATCH ${placeOf(object)}`, answer.status, answer, undefined);
    const generation = (children.get(placeOf(object))?.metadata.generation ?? 0) + 1;
    const metadata = { ...object.metadata, uid: placeOf(object), generation };
    const status = { status: outStatus(generation, object.spec?.['replicas']) };
    const written = { ...object, metadata, ...(object.kind === 'Deployment' && status) };
    children.set(placeOf(object), written);
    return written;
  }

  /** Makes new templates take time, or ends those that took it. */
  function roll(isSlow: boolean): void {
    areSlow = isSlow;
    if (isSlow) return;
    for (const [place, object] of children) {
      if (object.kind !== 'Deployment') continue;
      const status = outStatus(object.metadata.generation ?? 0, object.spec?.['replicas']);
      children.set(place, { ...object, status });
    }
  }

  const writer = {
    apply: write,
    create: write,
    delete: async (object: KubernetesObject) => void children.delete(placeOf(object)),
    applyStatus: async (object: KubernetesObject) => {
      const tonApi = stored.get(keyOf(object));
      if (tonApi !== undefined) stored.set(keyOf(object), { ...tonApi, status: object.status } as TonApi);
      return object;
    },
  };
  return { stored, children, refused, roll, writer };
}

/** A few TonApis whose reconciles a test runs by hand. One rollout at a time, with a pause of 30 s. */
export function reconcilerScene(clock: VirtualClock, tonApis: readonly TonApi[]) {
  const { stored, children, refused, roll, writer } = memoryServer(tonApis);
  const called: string[] = [];
  let installed: Release = release;
  const rollouts = createRolloutQueue(
    { concurrencyMax: 1, delayMs: 30_000 },
    { clock, replacing: () => [], onTurn: (key) => void called.push(key) },
  );
  const reconcile = createTonApiReconciler({
    caches: {
      isUnknown: () => false,
      tonApi: (key: string) => stored.get(key),
      children: (uid: string) =>
        [...children.values()].filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid)),
      child: (kind: string, key: string) => children.get(`${kind} ${key}`),
      pods: () => [],
      tonApiKeysOf: () => [],
      reference: () => ({ resourceVersion: '1' }),
    },
    client: {
      get: async () => undefined,
      getMetadata: async () => undefined,
    },
    served: () => new Set(optionalKinds),
    texts: { read: async () => globalConfig },
    reports: { read: async () => new Map() },
    mounts: { read: async () => ({ problems: [], requeueAfterMs: undefined }) },
    consent: async () => true,
    get release() {
      return installed;
    },
    upgradePolicy: 'Rolling',
    canaries: { forget: ignore, decide: async () => ({ phase: 'promote' }) },
    keyrings: { sha256: ignore, note: () => false, forget: ignore },
    metrics: { tonApi: ignore, forget: ignore, refused: ignore, driftCorrected: ignore },
    drift: { waitMs: () => 0, isFight: () => false, corrected: ignore },
    nudge: { pods: async () => undefined },
    readyTimes: { note: ignore },
    events: { record: async () => undefined },
    onKeyringAcknowledged: ignore,
    tracer: trace.getTracer('test'),
    writer,
    rollouts,
    clock,
  } as unknown as Dependencies);

  return {
    refused,
    called,
    roll,
    /** Reconciles a TonApi once, after this many failures in a row. */
    reconcile: (tonApi: TonApi, failures = 0) =>
      reconcile(keyOf(tonApi), { signal: new AbortController().signal, failures }),
    /** Another operator takes over. */
    install: (next: Release) => void (installed = next),
    /** Changes the TonApi as a person would. */
    edit: (tonApi: TonApi, change: Partial<TonApi>) => {
      const before = stored.get(keyOf(tonApi)) ?? tonApi;
      stored.set(keyOf(tonApi), { ...before, ...change });
    },
    statusOf: (tonApi: TonApi) => stored.get(keyOf(tonApi))?.status,
    /** `True/Reason` of a condition, and its message. */
    condition(tonApi: TonApi, type: string) {
      const found = stored.get(keyOf(tonApi))?.status?.conditions?.find((one) => one.type === type);
      return found && `${found.status}/${found.reason}: ${found.message}`;
    },
    imageOf(tonApi: TonApi): string | undefined {
      const api = children.get(`Deployment ${tonApi.metadata.namespace}/${childNames(tonApi).api}`);
      return /"image":"([^"]*)"/.exec(JSON.stringify(api))?.[1];
    },
  };
}
