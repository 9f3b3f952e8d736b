import { createHash } from 'node:crypto';

import type { ServiceConfig } from '../config.ts';
import type { TonApi } from './manifest.gen.ts';
import { readManifest } from './manifest.ts';

/** What takes effect while the process runs. Everything else of the configuration needs a restart. */
export type HotConfig = Pick<ServiceConfig, 'plans' | 'anonymousPlan' | 'liteServers' | 'trustedProxies'> & {
  readonly onRedisFailure: ServiceConfig['rateLimits']['onRedisFailure'];
  readonly logLevel: ServiceConfig['observability']['logLevel'];
  /** Null where nothing is traced. */
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

/** What needs a restart, by the name under which a change is told. */
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

/** Names of the fields that differ and take effect with the next start only. */
export function changedCold(before: ServiceConfig, after: ServiceConfig): string[] {
  const [old, fresh] = [coldConfig(before), coldConfig(after)];
  return Object.keys(old).filter((name) => canonicalHash(old[name]) !== canonicalHash(fresh[name]));
}

/** True when no running process may take over `after`: it is of another network. */
export function isOtherNetwork(before: ServiceConfig, after: ServiceConfig): boolean {
  return identityOf(before) !== identityOf(after);
}

function identityOf({ network, anchors }: ServiceConfig): string {
  return canonicalHash([network, anchors.zeroState]);
}

/**
 * Hash that a process run with this manifest reports as `ton_config_hash` and in `/status`: of the part of the text that takes effect without a
 * restart. A global config counts when it is a document of the same text.
 *
 * @throws ConfigError as `configFromManifest`
 */
export function hotHashOfManifest(text: string): string {
  const { tonApi, lookup } = readManifest(text);
  const reference = tonApi.spec.liteServerConfigRef;
  return hotHash(tonApi, reference && lookup(reference));
}

/**
 * The same hash of a TonApi with its defaults filled in: the operator, which mounts the text, makes it of what the API server gave it.
 *
 * @param globalConfig text of the document that `liteServerConfigRef` stands for; undefined when it is not in the manifest's text
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

/** SHA-256, in hex, over a value as canonical JSON: fields in order of their names, bytes as base64, big integers as text. */
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
