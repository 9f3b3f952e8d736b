import { createHash } from 'node:crypto';

import type { ServiceConfig } from '../config.ts';
import { hotFields, type TonApi } from './manifest.gen.ts';
import { readManifest } from './manifest.ts';

type HotField = (typeof hotFields)[number];

/** Name of a field by its path: `onRedisFailure` of `rateLimits.onRedisFailure`. */
type NameOf<Path extends string> = Path extends `${string}.${infer Rest}` ? NameOf<Rest> : Path;

/** Type at a path; never for a path that `T` does not have. */
type At<T, Path extends string> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof T
    ? At<NonNullable<T[Head]>, Rest> | Extract<T[Head], null>
    : never
  : Path extends keyof T
    ? T[Path]
    : never;

type KnownPath = { [Path in HotField]: [At<ServiceConfig, Path>] extends [never] ? never : Path }[HotField];

/** Paths of the hot fields. A field that the configuration does not have under its path is a type error here. */
const hotPaths: readonly KnownPath[] = hotFields;

/**
 * Part of the configuration that takes effect while the process runs: the fields that the definition of TonApi marks as hot. They have the same path in
 * the manifest and in the configuration. Null: the part around the field is absent. Every other field needs a restart.
 */
export type HotConfig = { readonly [Path in HotField as NameOf<Path>]: At<ServiceConfig, Path> };

export function hotConfig(config: ServiceConfig): HotConfig {
  return hotValues(config, null) as HotConfig;
}

/** Returns the hot values by name, and `absent` for a value within an absent part. */
function hotValues(root: object, absent: null | undefined): Record<string, unknown> {
  return Object.fromEntries(
    hotPaths.map((path) => {
      const names = path.split('.');
      return [names.at(-1)!, names.reduce<unknown>((value, name) => fieldOf(value, name) ?? absent, root)];
    }),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns the values that need a restart, by the name reported for a change. */
function coldConfig({ tokenMetadata, ...config }: ServiceConfig): Readonly<Record<string, unknown>> {
  return {
    ...coldValues(config, ''),
    tokenMetadata: tokenMetadata !== null,
    'tokenMetadata.ipfsGateway': tokenMetadata?.ipfsGateway,
    'tokenMetadata.concurrency': tokenMetadata?.concurrency,
    'tokenMetadata.concurrencyPerHost': tokenMetadata?.concurrencyPerHost,
  };
}

/** Returns the fields that are not hot, by path. A field with a hot field inside is split into its fields. */
function coldValues(part: object, prefix: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, value]) => {
      const path = `${prefix}${name}`;
      if (hotPaths.some((hot) => hot === path)) return [];
      if (!hotPaths.some((hot) => hot.startsWith(`${path}.`))) return [[path, value]];
      return value === null ? [] : Object.entries(coldValues(value as object, `${path}.`));
    }),
  );
}

/** Returns the names of changed fields that take effect at the next start only. */
export function changedCold(before: ServiceConfig, after: ServiceConfig): string[] {
  const [old, fresh] = [coldConfig(before), coldConfig(after)];
  const names = Object.keys({ ...old, ...fresh });
  return names.filter((name) => canonicalHash(old[name] ?? null) !== canonicalHash(fresh[name] ?? null));
}

/** Reports whether `after` is of another network. A running process must not apply it. */
export function isOtherNetwork(before: ServiceConfig, after: ServiceConfig): boolean {
  return identityOf(before) !== identityOf(after);
}

function identityOf({ network, anchors }: ServiceConfig): string {
  return canonicalHash([network, anchors.zeroState]);
}

/**
 * Returns the hash that a process reports as `ton_config_hash` and in `/status` when run with this manifest. The hash covers the fields that take
 * effect without a restart. A global config counts if it is a document of the same text.
 *
 * @throws ConfigError as `configFromManifest`
 */
export function hotHashOfManifest(text: string): string {
  const { tonApi, lookup } = readManifest(text);
  const reference = tonApi.spec.liteServerConfigRef;
  return hotHash(tonApi, reference && lookup(reference));
}

/**
 * Returns the same hash of a TonApi with its defaults filled in. The operator mounts the text and computes the hash from the object of the API
 * server.
 *
 * @param globalConfig text of the document named by `liteServerConfigRef`; undefined when the manifest's text does not have it
 */
export function hotHash({ spec }: Pick<TonApi, 'spec'>, globalConfig: string | undefined): string {
  return canonicalHash({ ...hotValues(spec, undefined), globalConfig });
}

/** Returns the SHA-256, in hex, of a value as canonical JSON. Fields are sorted by name, bytes are base64, big integers text. */
export function canonicalHash(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(value)) ?? '')
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, canonical(field)]));
}
