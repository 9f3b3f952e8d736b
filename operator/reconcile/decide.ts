import { build } from '../desired/build.ts';
import { childNames } from '../desired/names.ts';
import { withReadableValues } from '../desired/stored-values.ts';
import type { DesiredObject, Release, Rollout } from '../desired/references.ts';
import { keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { missingMounts } from '../rollout/missing-mounts.ts';
import type { RolloutView } from '../status/observed.ts';
import { templateHash } from '../status/summarize.ts';
import { stateOf, type CanaryWatch } from './canary-watch.ts';
import { withIgnored } from '../diff/ignored.ts';
import type { Observation } from './observation.ts';
import type { RolloutQueue } from './rollout-queue.ts';
import { suspensionOf } from './suspension.ts';
import { templateChanges, templateOf, type TemplateChange } from './rollout.ts';

/** Wanted objects, and the state of the rollout of the API's template. */
export type Decision = {
  readonly desired: readonly DesiredObject[];
  /** `settled`: nothing delays the template. Replacement of pods is observed, not decided. */
  readonly rollout: RolloutView;
  /** When time alone could change the decision. */
  readonly requeueAfterMs: number | undefined;
};

export type DecideDependencies = {
  readonly release: Release;
  readonly upgradePolicy: 'Rolling' | 'OnChange';
  readonly rollouts: Pick<RolloutQueue, 'ask'>;
  readonly canaries: CanaryWatch;
};

/** Counters of a canary are read this often: a bad one must not run long. */
const CANARY_LOOK_MS = 2000;

/**
 * Decides which templates roll out now (operator/README.md#rollouts). A change by a person goes at once, or by a canary.
 * A change by a new operator alone waits for its turn or stays, by the policy. Values that cannot be read are problems of the observation.
 */
export async function decide(
  stored: TonApi,
  seen: Observation,
  dependencies: DecideDependencies,
  signal: AbortSignal,
): Promise<Decision> {
  const { release } = dependencies;
  const tonApi = withReadableValues(stored);
  const buildAll = (rollout: Rollout): DesiredObject[] => build(tonApi, { ...seen.references, rollout }, release);
  const buildWith = (rollout: Rollout): DesiredObject[] => withIgnored(tonApi, buildAll(rollout), seen.children);
  const wanted = buildWith({});
  // A value of another writer makes no new template.
  const hash = hashOfApi(tonApi, buildAll({}));
  const changes = templateChanges(tonApi, wanted, seen.children);
  const vain = changes.filter((change) => missingMounts(change.wanted, seen.missing).length > 0);
  const startable = changes.filter((change) => !vain.includes(change));
  const byOperator = startable.filter(({ cause }) => cause === 'operator');
  // While nothing is written a turn would be of no use, and others would wait for it. A canary that began has its turn.
  const needsTurn = byOperator.length > 0 && suspensionOf(tonApi) === undefined && !isTried(tonApi, hash, seen);
  const waits = needsTurn ? waitOf(tonApi, dependencies) : undefined;
  const held = { ...heldOf(vain), ...(waits !== undefined && heldOf(byOperator)) };
  const api = startable.find(({ workload }) => workload === 'api');
  if (
    api !== undefined &&
    !(waits !== undefined && api.cause === 'operator') &&
    tonApi.spec.rollout?.strategy === 'Canary'
  ) {
    return byCanary(tonApi, { seen, hash, held, api, buildWith }, dependencies, signal);
  }
  dependencies.canaries.forget(keyOf(tonApi));
  const desired = Object.keys(held).length === 0 ? wanted : buildWith({ held });
  return { desired, rollout: { hash, ...(vainRollout(vain, seen) ?? waits ?? settled) }, requeueAfterMs: undefined };
}

const settled = { phase: 'settled' } as const;

/** The view of templates that wait for what their pods would mount; undefined when none does. */
function vainRollout(
  vain: readonly TemplateChange[],
  { missing }: Observation,
): { readonly phase: 'rolling'; readonly waits: string } | undefined {
  const mounts = new Set(vain.flatMap(({ wanted }) => missingMounts(wanted, missing)));
  return mounts.size === 0 ? undefined : { phase: 'rolling', waits: [...mounts].join(', ') };
}

type Wait =
  | { readonly phase: 'frozen' }
  | { readonly phase: 'waiting'; readonly position: number; readonly waiting: number };

/** Reason for which a change by the operator alone waits; undefined when it is the TonApi's turn. */
function waitOf(tonApi: TonApi, { upgradePolicy, rollouts }: DecideDependencies): Wait | undefined {
  if (upgradePolicy === 'OnChange') return { phase: 'frozen' };
  const turn = rollouts.ask(keyOf(tonApi));
  return turn.granted ? undefined : { phase: 'waiting', position: turn.position, waiting: turn.waiting };
}

/** True when a canary of the wanted template is live, tried or given up. */
function isTried(tonApi: TonApi, hash: string, { children }: Observation): boolean {
  const { canary: name } = childNames(tonApi);
  const canary = children.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  return canary !== undefined && stateOf(canary)?.hash === hash;
}

type CanaryParts = {
  readonly seen: Observation;
  readonly hash: string;
  readonly held: NonNullable<Rollout['held']>;
  readonly api: TemplateChange;
  readonly buildWith: (rollout: Rollout) => DesiredObject[];
};

/** The stable pods keep their template until every step went well. */
async function byCanary(
  tonApi: TonApi,
  { seen, hash, held, api, buildWith }: CanaryParts,
  { canaries }: DecideDependencies,
  signal: AbortSignal,
): Promise<Decision> {
  const next = await canaries.decide(tonApi, hash, seen, signal);
  if (next.phase === 'promote') {
    return { desired: buildWith({ held }), rollout: { hash, phase: 'settled' }, requeueAfterMs: undefined };
  }
  const stable = { ...held, api: api.live };
  if (next.phase === 'rolledBack') {
    const canary = { weight: 0, replicas: 0, state: next.state };
    const rollout = { hash, phase: 'rolledBack', why: next.why } as const;
    return { desired: buildWith({ held: stable, canary }), rollout, requeueAfterMs: undefined };
  }
  if (tonApi.spec.hibernate) {
    return { desired: buildWith({ held: stable }), rollout: { hash, phase: 'hibernated' }, requeueAfterMs: undefined };
  }
  const { weight, replicas, state, why } = next;
  return {
    desired: buildWith({ held: stable, canary: { weight, replicas, state } }),
    rollout: { hash, phase: 'canary', step: state.step, weight, why },
    requeueAfterMs: Math.min(next.retryAfterMs ?? CANARY_LOOK_MS, CANARY_LOOK_MS),
  };
}

function heldOf(changes: readonly TemplateChange[]): NonNullable<Rollout['held']> {
  return Object.fromEntries(changes.map(({ workload, live }) => [workload, live]));
}

/** Hash of the API's template as it is wanted. */
function hashOfApi(tonApi: TonApi, wanted: readonly DesiredObject[]): string {
  const { api } = childNames(tonApi);
  const isApi = ({ kind, metadata }: KubernetesObject): boolean => kind === 'Deployment' && metadata.name === api;
  const found = wanted.find(({ object }) => isApi(object));
  return templateHash(found === undefined ? {} : templateOf(found.object));
}
