import type { ServiceConfig } from '../config.ts';
import type { BlockId } from '../decode/block-id.ts';
import type { Readiness } from '../http/internal-server.ts';
import type { HttpServerStatus } from '../http/server.ts';
import type { MetadataStatus } from '../metadata/metadata.ts';
import type { Pool } from '../pool/pool.ts';
import type { TrustChain } from '../proof/trust-chain.ts';

/** What `/status` tells of the index. */
export type IndexStatus = {
  /** The operator takes it over into the status of a TonApi. Undefined in a process that only reads. */
  readonly state?: 'CatchingUp' | 'Live' | 'Stalled' | undefined;
  /** Newest masterchain block that is indexed, where the process writes the index. */
  readonly headSeqno?: number | undefined;
  /** One line for a person. */
  readonly text: string;
};

export type StatusSources = {
  /** Absent in a process that reads no lite server. */
  readonly pool?: Pool;
  /** Undefined under trust `none`. */
  readonly trusted?: () => TrustChain | undefined;
  readonly readiness: () => Readiness;
  /** Of the public listener, where there is one. */
  readonly http?: () => HttpServerStatus;
  /** Of the hot configuration in force. */
  readonly configHash: () => string;
  /** What the role adds. */
  readonly further: () => Readonly<Record<string, unknown>>;
  readonly keyring?: () => { readonly keys: number; readonly sha256: string | null };
  /** Where the index is; absent where there is none. */
  readonly index?: () => IndexStatus;
  /** What is fetched of tokens, where that is the process's work. */
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
      ...(sources.metadata && { metadata: sources.metadata() }),
      ...sources.further(),
    };
  };
}

/** How old the head is by this machine's clock. */
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
