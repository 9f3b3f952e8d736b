/** Anything that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Owner of an object, for garbage collection and ownership. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** Metadata as the API server keeps it; times are RFC 3339 text everywhere. */
export type ObjectMetadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFields[];
};

/** Fields that a manager wrote. `fieldsV1` names them as the API server does: `{"f:spec": {"f:replicas": {}}}`. */
export type ManagedFields = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly [name: string]: Json };
};

/** Any object of Kubernetes, as plain JSON. Fields without a type survive. */
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

/** `namespace/name`; `/name` for what has no namespace. */
export type ObjectKey = string;

/** A condition of a status (API conventions of Kubernetes). `lastTransitionTime` changes with `status` only. */
export type Condition = {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** CamelCase word; part of the API. */
  readonly reason: string;
  /** A sentence for a person. */
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
};

export function keyOf({ metadata }: { readonly metadata: Pick<ObjectMetadata, 'name' | 'namespace'> }): ObjectKey {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The two halves of a key. */
export function splitKey(key: ObjectKey): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner that controls the object: at most one does. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/**
 * Formats a time as Kubernetes' MicroTime, with six fractional digits.
 * The server refuses the three of `Date.toISOString` with 400 in a Lease or an Event (operator/README.md#leader-election).
 */
export function microTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}

/** A time as Kubernetes' Time: whole seconds. */
export function secondsTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
