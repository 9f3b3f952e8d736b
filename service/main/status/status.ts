import type { ServiceConfig } from '#service/config.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { Readiness } from '#service/http/internal-server.ts';
import type { HttpServerStatus } from '#service/http/server.ts';
import type { MetadataStatus } from '#service/metadata/metadata.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { TrustChain } from '#service/proof/trust-chain.ts';

/** Status of the index in `/status`. */
export type IndexStatus = {
  /** The operator takes it over into the status of a TonApi. Undefined in a process that only reads. */
  readonly state?: 'CatchingUp' | 'Live' | 'Stalled' | undefined;
  /** Newest masterchain block that is indexed, where the process writes the index. */
  readonly headSeqno?: number | undefined;
  /** Single line for a person. */
  readonly text: string;
};

export type StatusSources = {
  /** Absent in a process that reads no lite server. */
  readonly pool?: Pool;
  /** Undefined under trust `none`. */
  readonly trusted?: () => TrustChain | undefined;
  readonly readiness: () => Readiness;
  /** Status of the public listener, if any. */
  readonly http?: () => HttpServerStatus;
  /** Hash of the hot configuration in force. */
  readonly configHash: () => string;
  /** Content that the role adds. */
  readonly further: () => Readonly<Record<string, unknown>>;
  readonly keyring?: () => { readonly keys: number; readonly sha256: string | null };
  /** Progress of the index; absent without an index. */
  readonly index?: () => IndexStatus;
  /** Connections of streams, and the parts that streams depend on with the levels that exist now; absent without streams. */
  readonly streaming?: () => Readonly<Record<string, unknown>>;
  /** Status of metadata fetching, in a process with that work. */
  readonly metadata?: () => MetadataStatus;
};

/** Makes what `/status` shows: the configuration in force, the head, what is trusted, and every lite server. */
export function createStatus(config: ServiceConfig, version: string, sources: StatusSources) {
  const startedMs = performance.now();
  return () => {
    const head = sources.pool?.head();
    const trusted = sources.trusted?.();
    return {
      name: config.name,
      network: config.network,
      trust: config.trust,
      version,
      configHash: sources.configHash(),
      ...(sources.keyring && { keyring: sources.keyring() }),
      uptimeSeconds: Math.round((performance.now() - startedMs) / 1000),
      ...sources.readiness(),
      head: head && { ...viewBlock(head.block), utime: head.utime, lagSeconds: lagSeconds(head.utime) },
      trustedKeyBlock: trusted && viewBlock(trusted.newestKeyBlock()),
      liteServers: sources.pool?.status() ?? [],
      ...(sources.http && { http: sources.http() }),
      ...(sources.index && { index: sources.index() }),
      ...(sources.streaming && { streaming: sources.streaming() }),
      ...(sources.metadata && { metadata: sources.metadata() }),
      ...sources.further(),
    };
  };
}

/** Age of the head by this machine's clock, in seconds. */
function lagSeconds(utime: number): number {
  return Math.round(Date.now() / 1000) - utime;
}

function viewBlock({ workchain, shard, seqno, rootHash, fileHash }: BlockId) {
  return {
    workchain,
    shard: shard.toString(16).padStart(16, '0'),
    seqno,
    rootHash: rootHash.toString('hex'),
    fileHash: fileHash.toString('hex'),
  };
}
