import type { Change, RuleCase } from './cases.ts';

const set =
  (fields: Record<string, unknown>): Change =>
  (spec) =>
    void Object.assign(spec, fields);

const postgres = { secretRef: { name: 'database' } };
const connection = {
  host: { value: 'db.example.com' },
  database: { value: 'ton' },
  user: { value: 'ton' },
  password: { secretRef: { name: 'database' } },
};
const { password: _password, ...withoutPassword } = connection;
const clientCertificate = { secretRef: { name: 'client' } };

/** Rules of the connections to Redis and Postgres. */
export const connectionCases: readonly RuleCase[] = [
  {
    message: 'set exactly one of secretRef, parts',
    field: 'spec.postgres',
    accepted: set({ postgres: { parts: connection } }),
    refused: set({ postgres: { ...postgres, parts: connection } }),
  },
  {
    message: 'set exactly one of secretRef, parts',
    field: 'spec.postgres',
    accepted: set({ postgres: { ...postgres, readOnlySecretRef: { name: 'replica' } } }),
    refused: set({ postgres: { readOnlySecretRef: { name: 'replica' } } }),
  },
  {
    message: 'set at most one of readOnlySecretRef, parts.readOnlyHost',
    field: 'spec.postgres',
    accepted: set({ postgres: { parts: connection, readOnlySecretRef: { name: 'replica' } } }),
    refused: set({
      postgres: {
        parts: { ...connection, readOnlyHost: { value: 'replica.example.com' } },
        readOnlySecretRef: { name: 'replica' },
      },
    }),
  },
  ...['host', 'port', 'database', 'user', 'readOnlyHost'].map((part) => ({
    message: 'set exactly one of value, secretRef',
    field: `spec.postgres.parts.${part}`,
    accepted: set({ postgres: { parts: { ...connection, [part]: { secretRef: { name: 'database' } } } } }),
    refused: set({
      postgres: { parts: { ...connection, [part]: { value: '5433', secretRef: { name: 'database' } } } },
    }),
  })),
  {
    message: 'set exactly one of secretRef, embedded: true',
    field: 'spec.rateLimits.redis',
    accepted: set({ rateLimits: { redis: { embedded: true } } }),
    refused: set({ rateLimits: { redis: { embedded: true, secretRef: { name: 'redis' } } } }),
  },
  {
    message: 'set exactly one of secretRef, embedded: true',
    field: 'spec.rateLimits.redis',
    accepted: set({ rateLimits: { redis: { embedded: false, secretRef: { name: 'redis' } } } }),
    refused: set({ rateLimits: { redis: {} } }),
  },
  {
    message: 'schema is immutable',
    field: 'spec.postgres.schema',
    before: set({ postgres: { ...postgres, schema: 'ton' } }),
    accepted: set({ postgres }),
    refused: set({ postgres: { ...postgres, schema: 'other' } }),
  },
  {
    message: 'caBundle needs secretRef',
    field: 'spec.rateLimits.redis',
    accepted: set({ rateLimits: { redis: { secretRef: { name: 'redis' }, caBundle: { secretRef: { name: 'ca' } } } } }),
    refused: set({ rateLimits: { redis: { embedded: true, caBundle: { secretRef: { name: 'ca' } } } } }),
  },
  {
    message: 'clientCertificate needs secretRef',
    field: 'spec.rateLimits.redis',
    accepted: set({ rateLimits: { redis: { secretRef: { name: 'redis' }, clientCertificate } } }),
    refused: set({ rateLimits: { redis: { embedded: true, clientCertificate } } }),
  },
  {
    message: 'parts needs password, except with clientCertificate',
    field: 'spec.postgres',
    accepted: set({ postgres: { parts: withoutPassword, clientCertificate } }),
    refused: set({ postgres: { parts: withoutPassword } }),
  },
  {
    message: 'clientCertificate needs TLS, and parts.sslMode disables it',
    field: 'spec.postgres.parts.sslMode',
    accepted: set({ postgres: { parts: { ...connection, sslMode: 'require' }, clientCertificate } }),
    refused: set({ postgres: { parts: { ...connection, sslMode: 'disable' }, clientCertificate } }),
  },
  ...[{}, { secretRef: { name: 'ca' }, configMapRef: { name: 'ca' } }].map((caBundle) => ({
    message: 'set exactly one of secretRef, configMapRef',
    field: 'spec.rateLimits.redis.caBundle',
    accepted: set({ rateLimits: { redis: { secretRef: { name: 'redis' }, caBundle: { secretRef: { name: 'ca' } } } } }),
    refused: set({ rateLimits: { redis: { secretRef: { name: 'redis' }, caBundle } } }),
  })),
  ...[{}, { secretRef: { name: 'ca' }, configMapRef: { name: 'ca' } }].map((caBundle) => ({
    message: 'set exactly one of secretRef, configMapRef',
    field: 'spec.postgres.caBundle',
    accepted: set({ postgres: { ...postgres, caBundle: { configMapRef: { name: 'ca' } } } }),
    refused: set({ postgres: { ...postgres, caBundle } }),
  })),
];
