import type { TonApi as TonApiManifest, TonApiKey as TonApiKeyManifest } from '../service/config/manifest.gen.ts';
import type { ObjectMetadata } from './kubernetes/object.ts';

/** API group of both resources; annotations and labels of ours are below it. */
export const group = 'tonplane.dev';

/** Version of both resources that this operator reads and writes. */
export const apiVersion = `${group}/v1alpha1`;

type FromServer = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
};

/** A TonApi as the API server has it: defaults filled in. */
export type TonApi = Omit<TonApiManifest, keyof FromServer> & FromServer;

/** A TonApiKey as the API server has it: defaults filled in. */
export type TonApiKey = Omit<TonApiKeyManifest, keyof FromServer> & FromServer;

export type TonApiStatus = NonNullable<TonApi['status']>;
export type TonApiKeyStatus = NonNullable<TonApiKey['status']>;

/** Annotations for users (operator/README.md#annotations). `adopt` belongs on another object, the rest on our resources. */
export const annotations = {
  paused: `${group}/paused`,
  restart: `${group}/restart`,
  plan: `${group}/plan`,
  adopt: `${group}/adopt`,
  traceparent: `${group}/traceparent`,
} as const;

/** True while the operator changes nothing of the TonApi: in a pause or in plan mode. */
export function isFrozen(tonApi: Pick<TonApi, 'metadata'>): boolean {
  return annotationOf(tonApi, 'paused') !== undefined || annotationOf(tonApi, 'plan') === 'true';
}

/** An annotation's value; undefined when it is not there or empty. */
export function annotationOf(
  { metadata }: { readonly metadata: ObjectMetadata },
  name: keyof typeof annotations,
): string | undefined {
  const value = metadata.annotations?.[annotations[name]];
  return value === '' ? undefined : value;
}
