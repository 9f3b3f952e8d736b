import type { KubernetesObject } from '../kubernetes/object.ts';
import type { IndexState, PodSays } from './pods.ts';

/** Something that the spec names and that is not as it must be. */
export type ReferenceProblem = { readonly reason: string; readonly message: string };

/** Something that is wanted and that the API server, or the cluster as it is, does not take. */
export type Refusal = {
  readonly reason:
    | 'NameTaken'
    | 'InvalidReference'
    | 'InvalidValue'
    | 'AdmissionDenied'
    | 'QuotaExceeded'
    | 'Forbidden'
    | 'WebhookUnavailable'
    | 'ServerError'
    | 'RedisUnavailable'
    | 'InternalError';
  readonly message: string;
  /** A later try may succeed without a person. Absent: only a person can change it. */
  readonly retried?: true;
};

/** State of the rollout of the API's template. `hash` is of the wanted template. */
export type RolloutView = { readonly hash: string } & (
  | { readonly phase: 'settled' }
  /** Pods are replaced or made; `waits` is the reason for a delay. */
  | { readonly phase: 'rolling'; readonly waits?: string }
  /** Waits for its turn among the TonApis that an upgrade of the operator changes. */
  | { readonly phase: 'waiting'; readonly position: number; readonly waiting: number }
  /** The template of an older operator stays until somebody edits the TonApi. */
  | { readonly phase: 'frozen' }
  | { readonly phase: 'canary'; readonly step: number; readonly weight: number; readonly why: string }
  | { readonly phase: 'rolledBack'; readonly why: string }
  /** A canary needs pods to compare, so it begins after hibernation. */
  | { readonly phase: 'hibernated' }
);

/** State of the schema: `current` when it is what the release needs, or nothing is needed. */
export type MigrationState =
  | { readonly state: 'notNeeded' | 'current' }
  /** `suspended`: no migration begins in hibernation. */
  | { readonly state: 'running' | 'suspended' | 'failed'; readonly message: string };

/** Inputs of a status: only observed state, never state that was just requested. */
export type Observed = {
  /** The children as they are live. */
  readonly live: readonly KubernetesObject[];
  /** Pods of the API, canaries included. */
  readonly pods: readonly KubernetesObject[];
  /** Pods that fetch what tokens keep outside of the chain. */
  readonly metadataPods: readonly KubernetesObject[];
  /** Pods of the indexer and of the embedded Redis. */
  readonly otherPods?: readonly KubernetesObject[];
  /** Reports of pods, by UID. */
  readonly says: ReadonlyMap<string, PodSays>;
  readonly problems: readonly ReferenceProblem[];
  readonly refusals: readonly Refusal[];
  /** Changes of the spec that wait for the end of a pause or of a plan, such as `Deployment x`. */
  readonly suspended?: readonly string[];
  /** Parts that are left out because the cluster lacks their API: `ServiceMonitor`. */
  readonly unserved: readonly string[];
  /** Why the wanted autoscaling cannot work here. */
  readonly scalingProblem?: ReferenceProblem | undefined;
  /** Hash that every ready pod must report. */
  readonly hotHash: string;
  /** Ready pods that make the API available; 0 where no pod is wanted. */
  readonly readyMin: number;
  readonly migration: MigrationState;
  /** State that the indexer's pods report; undefined while no pod reports. */
  readonly indexer: IndexState | undefined;
  /** Keys in force. */
  readonly keys: number;
  readonly rollout: RolloutView;
  /** Objects that another writer changes repeatedly. */
  readonly fights: readonly string[];
};
