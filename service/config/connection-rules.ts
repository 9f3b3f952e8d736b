import { readDurationMs } from './duration.ts';
import type { TonApi } from './manifest.gen.ts';
import { postgresPartNames } from './postgres-parts.ts';
import { rule, type Rule } from './rule.ts';

type Spec = TonApi['spec'];

/** Parts that take a value too. A password comes from a Secret alone. */
const partsWithValue = postgresPartNames.filter((part) => part !== 'password');

const REPLICA_LAG_MIN_MS = 1000;
const REPLICA_LAG_MAX_MS = 3_600_000;

function caBundleRule(scope: string): Rule {
  return rule(
    scope,
    'has(self.secretRef) != has(self.configMapRef)',
    [],
    ({ secretRef, configMapRef }: NonNullable<NonNullable<Spec['postgres']>['caBundle']>) => [
      (secretRef === undefined) === (configMapRef === undefined),
      '',
      `expected exactly one of secretRef, configMapRef, got ${secretRef === undefined ? 'neither' : 'both'}`,
    ],
  );
}

/** Rules of connections to Redis and Postgres, and of the authorities of every connection. */
export const connectionRules: readonly Rule[] = [
  rule(
    'spec.rateLimits.redis',
    'has(self.secretRef) != self.embedded',
    ['embedded'],
    ({ secretRef, embedded }: Spec['rateLimits']['redis']) => [
      (secretRef !== undefined) === embedded,
      '',
      `expected exactly one of secretRef, embedded: true, got ${embedded ? 'both' : 'neither'}`,
    ],
  ),
  rule(
    'spec.rateLimits.redis',
    '!has(self.caBundle) || has(self.secretRef)',
    [],
    ({ caBundle, secretRef }: Spec['rateLimits']['redis']) => [
      caBundle !== undefined && secretRef === undefined,
      'secretRef',
      'expected a Secret, because caBundle is set, got nothing',
    ],
  ),
  rule(
    'spec.rateLimits.redis',
    '!has(self.clientCertificate) || has(self.secretRef)',
    [],
    ({ clientCertificate, secretRef }: Spec['rateLimits']['redis']) => [
      clientCertificate !== undefined && secretRef === undefined,
      'secretRef',
      'expected a Secret, because clientCertificate is set, got nothing',
    ],
  ),
  rule(
    'spec.postgres',
    'has(self.secretRef) != has(self.parts)',
    [],
    ({ secretRef, parts }: NonNullable<Spec['postgres']>) => [
      (secretRef === undefined) === (parts === undefined),
      '',
      `expected exactly one of secretRef, parts, got ${secretRef === undefined ? 'neither' : 'both'}`,
    ],
  ),
  rule(
    'spec.postgres',
    '!has(self.readOnlySecretRef) || !has(self.parts) || !has(self.parts.readOnlyHost)',
    [],
    ({ readOnlySecretRef, parts }: NonNullable<Spec['postgres']>) => [
      readOnlySecretRef !== undefined && parts?.readOnlyHost !== undefined,
      '',
      'expected at most one of readOnlySecretRef, parts.readOnlyHost, got both',
    ],
  ),
  rule(
    'spec.postgres',
    '!has(self.parts) || has(self.parts.password) || has(self.clientCertificate)',
    [],
    ({ clientCertificate, parts }: NonNullable<Spec['postgres']>) => [
      parts !== undefined && parts.password === undefined && clientCertificate === undefined,
      'parts.password',
      'expected a Secret, because clientCertificate is not set, got nothing',
    ],
  ),
  rule(
    'spec.postgres',
    "!has(self.clientCertificate) || !has(self.parts) || !has(self.parts.sslMode) || self.parts.sslMode != 'disable'",
    ['parts.sslMode'],
    ({ clientCertificate, parts }: NonNullable<Spec['postgres']>) => [
      clientCertificate !== undefined && parts?.sslMode === 'disable',
      'parts.sslMode',
      'expected another mode than disable, because clientCertificate is set, got disable',
    ],
  ),
  rule(
    'spec.postgres',
    "duration(self.replicaMaxLag) >= duration('1s') && duration(self.replicaMaxLag) <= duration('1h')",
    ['replicaMaxLag'],
    ({ replicaMaxLag }: NonNullable<Spec['postgres']>) => {
      const lagMs = readDurationMs(replicaMaxLag);
      const broken = lagMs < REPLICA_LAG_MIN_MS || lagMs > REPLICA_LAG_MAX_MS;
      return [broken, 'replicaMaxLag', `expected a duration from 1s to 1h, got ${replicaMaxLag}`];
    },
  ),
  ...partsWithValue.map((part) =>
    rule(
      `spec.postgres.parts.${part}`,
      'has(self.value) != has(self.secretRef)',
      [],
      ({ value, secretRef }: { readonly value?: string; readonly secretRef?: object }) => [
        (value === undefined) === (secretRef === undefined),
        '',
        `expected exactly one of value, secretRef, got ${secretRef === undefined ? 'neither' : 'both'}`,
      ],
    ),
  ),
  caBundleRule('spec.rateLimits.redis.caBundle'),
  caBundleRule('spec.postgres.caBundle'),
  caBundleRule('spec.tokenMetadata.caBundle'),
  caBundleRule('spec.observability.tracing.caBundle'),
];
