import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OptionalKind } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import type { Severities } from './alert-rules.ts';
import type { KeyringRow } from '../service-config.ts';
import type { Migrated } from './names.ts';

/** Release and installation options of the operator, the same for every TonApi. */
export type Release = {
  /** Version of the operator and of the service's default image, `MAJOR.MINOR.PATCH`. */
  readonly version: string;
  /** Repository and tag (or digest) of the service for a TonApi that names no image. */
  readonly image: string;
  /** Image of the embedded Redis. */
  readonly redisImage: string;
  /** Version of the database schema that this release needs; undefined for a release without a database. */
  readonly schemaVersion?: number | undefined;
  /** Base URL of the Prometheus where KEDA reads request rates. Without it KEDA scales by CPU alone. */
  readonly prometheusUrl?: string | undefined;
  /** Namespace that may scrape the pods; undefined: any. */
  readonly monitoringNamespace?: string | undefined;
  /** Namespace of the operator, which reads the pods' status page. */
  readonly operatorNamespace?: string | undefined;
  /** Base URL of the runbook pages that alerts link to. */
  readonly runbookUrl?: string | undefined;
  /** Values of the label `severity` of alerts, by our own words. */
  readonly alertSeverities?: Severities | undefined;
  /** Blackbox exporter that asks the hosts of every exposure: `host:port`, and the exporter's module. */
  readonly blackboxExporter?: { readonly address: string; readonly module: string } | undefined;
  /** Labels and annotations for the children of every TonApi. */
  readonly childMetadata?: TonApi['spec']['metadata'];
  /** Secrets with registry credentials for the pods of every TonApi, each in the TonApi's namespace. */
  readonly pullSecrets?: readonly string[];
  /** The platform assigns user and group ids to pods, as OpenShift does: templates name none. */
  readonly platformIds?: boolean;
};

/** Children with pods, by what they are for. */
export type Workload = 'api' | 'indexer' | 'metadata' | 'redis';

/** Live templates that stay although others are wanted. The rollout waits for its turn, policy refuses it, or a canary is in progress. */
export type Rollout = {
  /** `spec.template` of the workload as it is live; absent: the wanted one is rolled out. */
  readonly held?: { readonly [workload in Workload]?: Readonly<Record<string, unknown>> } | undefined;
  /** Pods of the wanted template, next to the live template of the API. Undefined: none. */
  readonly canary?: Canary | undefined;
};

/** A canary's share. Its Deployment stores `state`, so that a restarted operator continues at the same step. */
export type Canary = {
  /** Percent of the traffic; 0 after a rollback. */
  readonly weight: number;
  readonly replicas: number;
  readonly state: CanaryState;
};

export type CanaryState = {
  /** Hash of the template that is tried. */
  readonly hash: string;
  /** Index in `spec.rollout.steps`. */
  readonly step: number;
  /** When the step began, RFC 3339. */
  readonly since: string;
  /** Why the template was given up; absent while it is tried. */
  readonly rolledBack?: string;
};

/** State of the cluster that a build needs besides the TonApi. Everything here is observed; absent means not (yet) there. */
export type References = {
  /** Optional kinds that the cluster serves. Objects of another kind are left out (operator/README.md#optional-apis). */
  readonly served: ReadonlySet<OptionalKind>;
  /** Text of the key of the ConfigMap that `liteServerConfigRef` names. The operator never reads a Secret for it. */
  readonly globalConfig?: string | undefined;
  /** Rows of the keys in force. */
  readonly keyring: readonly KeyringRow[];
  /** Keyring shards that every ready pod has read; 0 when there are none. */
  readonly keyringShardsSettled: number;
  /** The newest migration that is done; undefined before the first. */
  readonly migrated?: Migrated | undefined;
  readonly rollout: Rollout;
};

/** Order of children; each must be in place before the next (operator/README.md#writes). */
export const stages = ['config', 'migration', 'indexer', 'api', 'exposure', 'monitoring'] as const;
export type Stage = (typeof stages)[number];

/** Wanted child with only the fields that we set, ready to be applied. */
export type DesiredObject = { readonly stage: Stage; readonly object: KubernetesObject };
