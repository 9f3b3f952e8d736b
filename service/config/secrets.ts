import type { SecretKey } from '../config.ts';
import type { TonApi } from './manifest.gen.ts';
import { readManifest } from './manifest.ts';
import { urisOfParts, type PostgresPartName } from './postgres-parts.ts';

/** Secrets that the manifest's file may contain besides the configuration, which has none. */
export type ManifestSecrets = {
  readonly redisUrl: string | undefined;
  readonly redisCa: CaBundle | undefined;
  readonly redisClientCertificate: ClientCertificateSource | undefined;
  readonly postgresUrl: string | undefined;
  /** Parts of `postgres.parts` without a value. The URL is undefined then. */
  readonly postgresMissing: readonly PostgresPartName[];
  readonly postgresReplicaUrl: string | undefined;
  readonly postgresCa: CaBundle | undefined;
  readonly postgresClientCertificate: ClientCertificateSource | undefined;
  readonly tracingCa: CaBundle | undefined;
  readonly metadataCa: CaBundle | undefined;
};

/** Target of a `caBundle` of the manifest. */
export type CaBundle = {
  /** Name in the form `Secret name`. */
  readonly source: string;
  /** Certificates in PEM; undefined when the manifest's file does not have the source. */
  readonly text: string | undefined;
};

/** Target of a `clientCertificate` of the manifest. A part is undefined when the manifest's file does not have it. */
export type ClientCertificateSource = {
  /** Name and keys in the form `Secret name (tls.crt, tls.key)`. */
  readonly source: string;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
};

type ClientCertificateField = NonNullable<NonNullable<TonApi['spec']['postgres']>['clientCertificate']>;
type CaBundleField = NonNullable<NonNullable<TonApi['spec']['postgres']>['caBundle']>;

/**
 * Returns the values of Secrets in the manifest's own file; undefined for each missing Secret.
 *
 * @param mountedPart value of a part of `postgres.parts` from a mounted Secret, which wins; undefined for none
 * @throws ConfigError as `configFromManifest`
 */
export function secretsOfManifest(
  text: string,
  mountedPart: (name: PostgresPartName) => string | undefined = () => undefined,
): ManifestSecrets {
  const { tonApi, lookup } = readManifest(text);
  const { rateLimits, postgres } = tonApi.spec;
  const textOf = (reference: SecretKey | undefined): string | undefined =>
    reference === undefined ? undefined : lookup({ kind: 'Secret', ...reference });
  const valueOf = (reference: SecretKey | undefined): string | undefined => textOf(reference)?.trim();
  const bundleOf = ({ secretRef, configMapRef }: CaBundleField = {}): CaBundle | undefined => {
    const kind = secretRef === undefined ? 'ConfigMap' : 'Secret';
    const reference = secretRef ?? configMapRef;
    return reference && { source: `${kind} ${reference.name}`, text: lookup({ kind, ...reference }) };
  };
  const certificateOf = (field: ClientCertificateField | undefined): ClientCertificateSource | undefined => {
    if (field === undefined) return undefined;
    const { name, certificate, privateKey } = field.secretRef;
    return {
      source: `Secret ${name} (${certificate}, ${privateKey})`,
      certificate: textOf({ name, key: certificate }),
      key: textOf({ name, key: privateKey }),
    };
  };
  const { parts } = postgres ?? {};
  const made = parts && urisOfParts(parts, (name) => mountedPart(name) ?? textOf(parts[name]?.secretRef));
  return {
    redisUrl: valueOf(rateLimits.redis.secretRef),
    redisCa: bundleOf(rateLimits.redis.caBundle),
    redisClientCertificate: certificateOf(rateLimits.redis.clientCertificate),
    postgresUrl: made === undefined ? valueOf(postgres?.secretRef) : made.uri,
    postgresMissing: made?.missing ?? [],
    postgresReplicaUrl: made?.replicaUri ?? valueOf(postgres?.readOnlySecretRef),
    postgresCa: bundleOf(postgres?.caBundle),
    postgresClientCertificate: certificateOf(postgres?.clientCertificate),
    metadataCa: bundleOf(tonApi.spec.tokenMetadata?.caBundle),
    tracingCa: bundleOf(tonApi.spec.observability?.tracing?.caBundle),
  };
}
