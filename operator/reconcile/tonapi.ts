import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';

import { build } from '../desired/build.ts';
import { schemaReady } from '../desired/indexer.ts';
import { stages, type DesiredObject, type Release } from '../desired/references.ts';
import { diff, type Change } from '../diff/diff.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import { keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { Events } from '../kubernetes/events.ts';
import type { Outcome, Work } from '../kubernetes/queue.ts';
import { annotationOf, type TonApi } from '../resource.ts';
import { act, type Acted } from './act.ts';
import type { DriftLog } from './drift-log.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { foreignNamesakes } from './namesakes.ts';
import { observe, type Observation, type ObserveDependencies } from './observation.ts';
import { isRollingOut, templateChanges } from './rollout.ts';
import type { RolloutQueue, Turn } from './rollout-queue.ts';
import { spanning } from './spans.ts';
import type { Writer } from './writer.ts';

export type TonApiOptions = {
  readonly release: Release;
  readonly upgradePolicy: 'Rolling' | 'OnChange';
};

export type TonApiDependencies = ObserveDependencies & {
  readonly client: KubernetesClient;
  readonly writer: Writer;
  readonly events: Events;
  readonly rollouts: RolloutQueue;
  readonly drift: DriftLog;
  readonly metrics: ReconcileMetrics;
  readonly logger: Logger;
  readonly tracer: Tracer;
};

/** What is to be done, and what waits. */
export type Plan = {
  readonly changes: readonly Change[];
  readonly waiting: Turn | 'policy' | undefined;
};

/** Pods are asked for their lite servers and versions this often when nothing happens. */
const calmMs = 60_000;

/** Makes the cluster as a TonApi says, one look at a time: observe, build, diff, act, status (operator sheet 4.1). */
export function createTonApiReconciler(
  options: TonApiOptions,
  dependencies: TonApiDependencies,
): (key: ObjectKey, work: Work) => Promise<Outcome> {
  const { caches, rollouts, metrics, tracer } = dependencies;
  const { release } = options;

  /** What is wanted now, templates that have to wait aside. */
  function decide(tonApi: TonApi, seen: Observation): { desired: DesiredObject[]; waiting: Plan['waiting'] } {
    const key = keyOf(tonApi);
    const wanted = build(tonApi, { ...seen.references, rollout: {} }, release);
    const templates = templateChanges(tonApi, wanted, seen.children);
    const byOperator = templates.filter(({ cause }) => cause === 'operator');
    if (byOperator.length === 0) return { desired: wanted, waiting: undefined };
    const waiting = options.upgradePolicy === 'OnChange' ? 'policy' : rollouts.ask(key);
    if (waiting !== 'policy' && waiting.granted) return { desired: wanted, waiting: undefined };
    const held = Object.fromEntries(byOperator.map(({ workload, live }) => [workload, live]));
    return { desired: build(tonApi, { ...seen.references, rollout: { held } }, release), waiting };
  }

  async function plan(tonApi: TonApi, seen: Observation, bounds: RequestBounds): Promise<Plan> {
    if (seen.problems.length > 0) return { changes: [], waiting: undefined };
    const { desired, waiting } = decide(tonApi, seen);
    const others = await foreignNamesakes(tonApi, desired, seen.children, dependencies.client, bounds);
    const changes = diff(tonApi, desired, [...seen.children, ...others]);
    return {
      changes: schemaReady(tonApi, seen.references, release) ? changes : changes.filter(isBeforeMigration),
      waiting,
    };
  }

  /** A rollout that is over makes room for the next. */
  function noteRollout(tonApi: TonApi, { children }: Observation, { changes }: Plan): void {
    const isBusy = children.some((child) => isWorkload(child) && isRollingOut(child));
    if (!isBusy && changes.length === 0) rollouts.leave(keyOf(tonApi));
  }

  async function look(tonApi: TonApi, { signal }: Work): Promise<Outcome> {
    const bounds = { signal };
    const seen = await spanning(tracer, 'observe', () => observe(tonApi, release, dependencies, bounds));
    const planned = await spanning(tracer, 'diff', () => plan(tonApi, seen, bounds));
    const isPaused = annotationOf(tonApi, 'paused') !== undefined;
    const acted: Acted = isPaused
      ? { writes: 0, refusals: [], fights: [] }
      : await act(tonApi, planned.changes, dependencies, bounds);
    noteRollout(tonApi, seen, planned);
    if (acted.refusals.length > 0) return { type: 'terminal' };
    return { type: 'done', lookAgainMs: Math.min(seen.lookAgainMs ?? calmMs, calmMs) };
  }

  return async (key, work) => {
    const tonApi = caches.tonApi(key);
    if (tonApi === undefined || tonApi.metadata.deletionTimestamp !== undefined) {
      rollouts.leave(key);
      metrics.forget(key);
      return { type: 'done' };
    }
    return look(tonApi, work);
  };
}

/** Later stages wait until the schema is there (operator sheet 4.1). */
function isBeforeMigration(change: Change): boolean {
  const stage = 'desired' in change ? change.desired.stage : change.stage;
  return stages.indexOf(stage) <= stages.indexOf('migration');
}

function isWorkload({ kind }: KubernetesObject): boolean {
  return kind === 'Deployment' || kind === 'StatefulSet';
}
