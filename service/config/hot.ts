import { createHash } from 'node:crypto';

import type { ServiceConfig } from '../config.ts';
import type { TonApi } from './manifest.gen.ts';
import { readManifest } from './manifest.ts';

/** Part of the configuration that takes effect while the process runs. Every other field needs a restart. */
export type HotConfig = Pick<ServiceConfig, 'plans' | 'anonymousPlan' | 'liteServers' | 'trustedProxies'> & {
  readonly onRedisFailure: ServiceConfig['rateLimits']['onRedisFailure'];
  readonly logLevel: ServiceConfig['observability']['logLevel'];
  /** Null without tracing. */
  readonly sampleRatio: number | null;
};

export function hotConfig(config: ServiceConfig): HotConfig {
  const { plans, anonymousPlan, liteServers, trustedProxies, rateLimits, observability } = config;
  return {
    plans,
    anonymousPlan,
    liteServers,
    trustedProxies,
    onRedisFailure: rateLimits.onRedisFailure,
    logLevel: observability.logLevel,
    sampleRatio: observability.tracing?.sampleRatio ?? null,
  };
}

/** Part of the configuration that needs a restart, by the name reported for a change. */
function coldConfig(config: ServiceConfig): Readonly<Record<string, unknown>> {
  const { plans: _plans, anonymousPlan: _anonymous, liteServers: _servers, trustedProxies: _proxies, ...rest } = config;
  const { rateLimits, observability, tokenMetadata, ...cold } = rest;
  return {
    ...cold,
    tokenMetadata: tokenMetadata !== null,
    'tokenMetadata.ipfsGateway': tokenMetadata?.ipfsGateway,
    'tokenMetadata.concurrency': tokenMetadata?.concurrency,
    'tokenMetadata.concurrencyPerHost': tokenMetadata?.concurrencyPerHost,
    'rateLimits.redis': rateLimits.redis,
    'observability.tracing.endpoint': observability.tracing?.endpoint ?? null,
  };
}

/** Returns the names of changed fields that take effect at the next start only. */
export function changedCold(before: ServiceConfig, after: ServiceConfig): string[] {
  const [old, fresh] = [coldConfig(before), coldConfig(after)];
  return Object.keys(old).filter((name) => canonicalHash(old[name]) !== canonicalHash(fresh[name]));
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
  const { plans, anonymousPlan, trustedProxies, liteServers, rateLimits, observability } = spec;
  return canonicalHash({
    plans,
    anonymousPlan,
    trustedProxies,
    liteServers,
    globalConfig,
    onRedisFailure: rateLimits.onRedisFailure,
    logLevel: observability?.logLevel,
    sampleRatio: observability?.tracing?.sampleRatio,
  });
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
