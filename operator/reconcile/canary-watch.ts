import { childAnnotations, childNames } from '../desired/names.ts';
import type { CanaryState } from '../desired/references.ts';
import type { Clock } from '../kubernetes/clock.ts';
import { keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { decideCanary, DEFAULT_MAX_ERROR_RATIO, type CanaryDecision } from '../rollout/canary.ts';
import { addLook, emptyWindow, type Counts, type ErrorWindow } from '../rollout/error-window.ts';
import { durationMs } from '../service-config.ts';
import { exceededDeadline } from '../status/pods.ts';
import { podAddress, type PodFetch } from './pod-reports.ts';
import { coldHashOf, isRollingOut, templateOf } from './rollout.ts';

/** Follows canaries: scrapes their pods and the stable ones, and decides the next move. */
export type CanaryWatch = {
  decide(
    tonApi: TonApi,
    wantedHash: string,
    seen: { readonly children: readonly KubernetesObject[]; readonly pods: readonly KubernetesObject[] },
    signal: AbortSignal,
  ): Promise<CanaryDecision>;
  forget(key: ObjectKey): void;
};

/** Counters of one step of a canary. */
type Windows = { readonly step: string; readonly canary: ErrorWindow; readonly stable: ErrorWindow };

/** A pod that does not answer its metrics in this time is not counted this time. */
const SCRAPE_TIMEOUT_MS = 2000;

const componentLabel = 'app.kubernetes.io/component';

export function createCanaryWatch(
  { port }: { readonly port: number },
  { fetchPage, clock }: { readonly fetchPage: PodFetch; readonly clock: Clock },
): CanaryWatch {
  const windows = new Map<ObjectKey, Windows>();

  async function scrape(pods: readonly KubernetesObject[], signal: AbortSignal): Promise<ReadonlyMap<string, Counts>> {
    const found = await Promise.all(
      pods.map(async (pod): Promise<[string, Counts] | undefined> => {
        const address = podAddress(pod);
        if (address === undefined) return undefined;
        try {
          const bounded = AbortSignal.any([signal, AbortSignal.timeout(SCRAPE_TIMEOUT_MS)]);
          return [pod.metadata.uid ?? '', countRequests(await fetchPage(address, port, '/metrics', bounded))];
        } catch {
          signal.throwIfAborted();
          return undefined;
        }
      }),
    );
    return new Map(found.filter((entry) => entry !== undefined));
  }

  return {
    async decide(tonApi, wantedHash, { children, pods }, signal) {
      const key = keyOf(tonApi);
      const names = childNames(tonApi);
      const deployment = (name: string): KubernetesObject | undefined =>
        children.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
      const [stable, canary] = [deployment(names.api), deployment(names.canary)];
      const state = stateOf(canary);
      // Pods of an abandoned canary still end while the next canary begins. Their failures do not count for the new canary.
      const of = (component: string, deployed: KubernetesObject | undefined): KubernetesObject[] =>
        pods.filter(
          (pod) =>
            pod.metadata.labels?.[componentLabel] === component &&
            (deployed === undefined || coldHashOf(pod) === coldHashOf(templateOf(deployed))),
        );
      const [canaryCounts, stableCounts] = await Promise.all([
        scrape(of('api-canary', canary), signal),
        scrape(of('api', stable), signal),
      ]);
      const step = `${state?.hash}/${state?.step}/${state?.since}`;
      const known = windows.get(key);
      const before = known?.step === step ? known : { canary: emptyWindow, stable: emptyWindow };
      const next: Windows = {
        step,
        // Pods of a first step are as old as the step.
        canary: addLook(before.canary, canaryCounts, state?.step === 0),
        stable: addLook(before.stable, stableCounts, false),
      };
      windows.set(key, next);
      const { rollout } = tonApi.spec;
      return decideCanary({
        steps: (rollout?.steps ?? []).map(({ weight, hold }) => ({ weight, holdMs: durationMs(hold) })),
        maxErrorRatio: rollout?.maxErrorRatio === undefined ? DEFAULT_MAX_ERROR_RATIO : Number(rollout.maxErrorRatio),
        wantedHash,
        stableReplicas: numberOf(stable?.spec?.['replicas']),
        state,
        pods: podsState(canary),
        canary: next.canary.sum,
        stable: next.stable.sum,
        nowMs: clock.unixMs(),
      });
    },
    forget(key) {
      windows.delete(key);
    },
  };
}

/** How far the canary is, as its Deployment remembers it. */
/** State of a canary, as its Deployment has it. */
export function stateOf(canary: KubernetesObject | undefined): CanaryState | undefined {
  const text = canary?.metadata.annotations?.[childAnnotations.canary];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as CanaryState;
  } catch {
    // Somebody edited the state: the canary starts again.
    return undefined;
  }
}

function podsState(canary: KubernetesObject | undefined): 'starting' | 'ready' | 'failed' {
  if (canary === undefined) return 'starting';
  if (exceededDeadline(canary)) return 'failed';
  return isRollingOut(canary) ? 'starting' : 'ready';
}

/** Requests and failures of a pod's metrics: every answer but those that callers hung up on. */
export function countRequests(metrics: string): Counts {
  let [requests, errors] = [0, 0];
  for (const [, status = '', value] of metrics.matchAll(
    /^ton_http_requests_total\{[^}]*status="(\d+)"[^}]*\} (\d+)/gm,
  )) {
    if (status === '499') continue;
    requests += Number(value);
    if (status.startsWith('5')) errors += Number(value);
  }
  return { requests, errors };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 1;
}
