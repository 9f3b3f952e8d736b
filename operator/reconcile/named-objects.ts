import type { TonApi } from '../resource.ts';
import { postgresPartNames } from '../service-config.ts';

/** A Secret or ConfigMap that a spec names, in the namespace of its TonApi. */
type NamedObject = { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string };

/** Every Secret and ConfigMap that the spec names, each once: Secrets first. */
export function namedObjects({ spec }: Pick<TonApi, 'spec'>): NamedObject[] {
  const { postgres, exposure, liteServerConfigRef } = spec;
  const bundles = [
    spec.rateLimits.redis.caBundle,
    postgres?.caBundle,
    spec.observability?.tracing?.caBundle,
    spec.tokenMetadata?.caBundle,
  ];
  const secrets = [
    spec.rateLimits.redis.secretRef?.name,
    postgres?.secretRef?.name,
    ...postgresPartNames.map((part) => postgres?.parts?.[part]?.secretRef?.name),
    postgres?.readOnlySecretRef?.name,
    spec.rateLimits.redis.clientCertificate?.secretRef.name,
    postgres?.clientCertificate?.secretRef.name,
    exposure?.tlsSecretName,
    liteServerConfigRef?.kind === 'Secret' ? liteServerConfigRef.name : undefined,
    ...bundles.map((bundle) => bundle?.secretRef?.name),
  ];
  const maps = [
    liteServerConfigRef?.kind === 'ConfigMap' ? liteServerConfigRef.name : undefined,
    ...bundles.map((bundle) => bundle?.configMapRef?.name),
  ];
  return [...named('Secret', secrets), ...named('ConfigMap', maps)];
}

function named(kind: NamedObject['kind'], names: readonly (string | undefined)[]): NamedObject[] {
  return [...new Set(names)].flatMap((name) => (name === undefined ? [] : [{ kind, name }]));
}
