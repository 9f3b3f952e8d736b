import type { SecretKey } from '../config.ts';
import { readManifest } from './manifest.ts';

/** What a manifest's own file may hold besides the configuration, which has no secret in it. */
export type ManifestSecrets = {
  readonly redisUrl: string | undefined;
  readonly postgresUrl: string | undefined;
  readonly postgresReplicaUrl: string | undefined;
};

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
  return {
    redisUrl: valueOf(rateLimits.redis.secretRef),
    postgresUrl: valueOf(postgres?.secretRef),
    postgresReplicaUrl: valueOf(postgres?.readOnlySecretRef),
  };
}
