import type { TonApi } from './manifest.gen.ts';

/** `spec.postgres.parts`: the address and the credentials of the database, each by its own value or key of a Secret. */
export type PostgresParts = NonNullable<NonNullable<TonApi['spec']['postgres']>['parts']>;

/** Parts that may come from Secrets, and the names of their files in a mounted folder. */
export const postgresPartNames = ['host', 'port', 'database', 'user', 'password', 'readOnlyHost'] as const;
export type PostgresPartName = (typeof postgresPartNames)[number];

/** URIs of the database and of its replica. Undefined while a part is missing. */
type PostgresUris = {
  readonly uri: string | undefined;
  readonly replicaUri: string | undefined;
  /** Parts of `uri` without a value. */
  readonly missing: readonly PostgresPartName[];
};

const spaceless: ReadonlySet<PostgresPartName> = new Set(['host', 'port', 'readOnlyHost']);

const DEFAULT_PORT = '5432';

/**
 * Composes the URIs of a database from its parts. Line ends after a part are no part of it. Spaces may belong to a name or a password, not to a
 * host or port.
 *
 * @param secretOf value of a part that the manifest takes from a Secret; undefined for a missing value
 */
export function urisOfParts(
  parts: PostgresParts,
  secretOf: (name: PostgresPartName) => string | undefined,
): PostgresUris {
  const valueOf = (name: PostgresPartName): string | undefined => {
    const part: { readonly value?: string; readonly secretRef?: object } | undefined = parts[name];
    const text = part?.value ?? (part?.secretRef && secretOf(name));
    return spaceless.has(name) ? text?.trim() : text?.replace(/[\r\n]+$/, '');
  };
  const [database, user, password] = [valueOf('database'), valueOf('user'), valueOf('password')];
  const [mainHost, port] = [valueOf('host'), parts.port === undefined ? DEFAULT_PORT : valueOf('port')];
  // A client certificate may be the login alone.
  const secret = parts.password === undefined ? {} : { password };
  const given = { host: mainHost, port, database, user, ...secret };
  const missingOf = (needed: typeof given): PostgresPartName[] =>
    postgresPartNames.filter((name) => name in needed && !needed[name as keyof typeof given]);
  const uriAt = (host: string | undefined): string | undefined => {
    if (host === undefined || missingOf({ ...given, host }).length > 0) return undefined;
    const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    const [name = '', of = '', to = ''] = [user, password, database].map((text) => encodeURIComponent(text ?? ''));
    const login = parts.password === undefined ? name : `${name}:${of}`;
    const mode = parts.sslMode === undefined ? '' : `?sslmode=${parts.sslMode}`;
    return `postgresql://${login}@${address}:${port}/${to}${mode}`;
  };
  return {
    uri: uriAt(mainHost),
    replicaUri: parts.readOnlyHost === undefined ? undefined : uriAt(valueOf('readOnlyHost')),
    missing: missingOf(given),
  };
}
