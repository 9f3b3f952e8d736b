import type { SecretKey } from '../config.ts';
import type { TonApi } from './manifest.gen.ts';
import { readManifest } from './manifest.ts';

/** What a manifest's own file may hold besides the configuration, which has no secret in it. */
export type ManifestSecrets = {
  readonly redisUrl: string | undefined;
  readonly redisCa: CaBundle | undefined;
  readonly postgresUrl: string | undefined;
  readonly postgresReplicaUrl: string | undefined;
  readonly postgresCa: CaBundle | undefined;
  readonly tracingCa: CaBundle | undefined;
  readonly metadataCa: CaBundle | undefined;
};

/** What a `caBundle` of the manifest refers to. */
export type CaBundle = {
  /** As `Secret name`. */
  readonly source: string;
  /** Certificates in PEM; undefined where the manifest's file does not hold the source. */
  readonly text: string | undefined;
};

type CaBundleField = NonNullable<NonNullable<TonApi['spec']['postgres']>['caBundle']>;

/**
 * The values of Secrets in the manifest's own file; undefined for each that is not there.
 *
 * @throws ConfigError as `configFromManifest`
 */
export function secretsOfManifest(text: string): ManifestSecrets {
  const { tonApi, lookup } = readManifest(text);
  const { rateLimits, postgres } = tonApi.spec;
  const valueOf = (reference: SecretKey | undefined): string | undefined =>
    reference === undefined ? undefined : lookup({ kind: 'Secret', ...reference })?.trim();
  const bundleOf = ({ secretRef, configMapRef }: CaBundleField = {}): CaBundle | undefined => {
    const kind = secretRef === undefined ? 'ConfigMap' : 'Secret';
    const reference = secretRef ?? configMapRef;
    return reference && { source: `${kind} ${reference.name}`, text: lookup({ kind, ...reference }) };
  };
  return {
    redisUrl: valueOf(rateLimits.redis.secretRef),
    redisCa: bundleOf(rateLimits.redis.caBundle),
    postgresUrl: valueOf(postgres?.secretRef),
    postgresReplicaUrl: valueOf(postgres?.readOnlySecretRef),
    postgresCa: bundleOf(postgres?.caBundle),
    metadataCa: bundleOf(tonApi.spec.tokenMetadata?.caBundle),
    tracingCa: bundleOf(tonApi.spec.observability?.tracing?.caBundle),
  };
}
