import type { KubernetesObject, OwnerReference } from '../kubernetes/object.ts';
import { apiVersion, type TonApi } from '../resource.ts';
import { contentHash } from './canonical.ts';
import { childAnnotations, childLabels, type Component } from './names.ts';
import type { DesiredObject, Stage } from './references.ts';

/** Parts that differ from child to child. Labels, owner, namespace and hash are the same for all. */
type ChildParts = {
  readonly stage: Stage;
  readonly component: Component;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fields besides `metadata`. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** A child of a TonApi, owned by it and marked with the hash of itself. */
export function child(tonApi: TonApi, version: string, parts: ChildParts): DesiredObject {
  const object = {
    apiVersion: parts.apiVersion,
    kind: parts.kind,
    metadata: {
      name: parts.name,
      namespace: tonApi.metadata.namespace ?? '',
      labels: { ...parts.labels, ...childLabels(tonApi, parts.component, version) },
      ownerReferences: [ownerOf(tonApi)],
      ...(parts.annotations && { annotations: parts.annotations }),
    },
    ...parts.body,
  };
  return { stage: parts.stage, object: withAppliedHash(object) };
}

/** Adds the annotation with the hash of the object as last wanted. */
export function withAppliedHash(object: KubernetesObject): KubernetesObject {
  const { [childAnnotations.appliedHash]: _before, ...annotations } = object.metadata.annotations ?? {};
  const plain = { ...object, metadata: { ...object.metadata, annotations } };
  const hash = contentHash(plain);
  return {
    ...plain,
    metadata: { ...plain.metadata, annotations: { ...annotations, [childAnnotations.appliedHash]: hash } },
  };
}

/** The owner whose deletion takes the child with it; at most one owner of an object controls it. */
export function ownerOf(owner: Pick<TonApi, 'kind' | 'metadata'>): OwnerReference {
  return {
    apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
