import { statSync } from 'node:fs';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { canonicalHash, changedCold, hotConfig, isOtherNetwork, type ServiceConfig } from '#service/config.ts';
import { TonplaneError } from '#service/error.ts';
import type { ClientCertificate } from '#service/tls/client-certificate.ts';
import { StartError } from '../errors.ts';
import { createReloadMetrics } from './metrics.ts';

/** Content of the command line's files. */
export type Loaded = {
  readonly config: ServiceConfig;
  /** Reported hash of the configuration's hot part. */
  readonly hash: string;
  /** URL of the Redis for shared limits. It is a secret, and so no part of the configuration. */
  readonly redisUrl: string | undefined;
  /** Authorities of Redis, certificates in PEM; undefined: the public authorities. */
  readonly redisCa: string | undefined;
  /** Certificate that Redis sees; a secret. */
  readonly redisClientCertificate?: ClientCertificate | undefined;
  /** URLs of the index, and of its read replica; secrets too. Undefined: the same database, or no index. */
  readonly postgresUrl: string | undefined;
  readonly postgresReplicaUrl: string | undefined;
  /** Parts of `spec.postgres.parts` without a value. The URL is undefined then. */
  readonly postgresMissing?: readonly string[];
  /** Authorities of Postgres, certificates in PEM; undefined: as the URLs say. */
  readonly postgresCa: string | undefined;
  /** Certificate that Postgres sees, and its replica; a secret. Undefined: as the URLs say. */
  readonly postgresClientCertificate?: ClientCertificate | undefined;
  /** The same of the collector of traces. */
  readonly tracingCa: string | undefined;
  /** Certificates in PEM that the IPFS gateway may come from, besides the public authorities; undefined: none. */
  readonly metadataCa: string | undefined;
};

export type HotReloadOptions = {
  /** Source files of the configuration; empty when no file is followed. */
  readonly files: readonly string[];
  /** Milliseconds between checks of the files. */
  readonly pollMs: number;
  /** Names of fields that this role does not read. Their changes are not reported. */
  readonly unread: readonly string[];
};

export type HotReloadDependencies = {
  /** Reads the files. Throws TonplaneError for what is wrong in them. */
  readonly load: () => Loaded;
  /** Applies the hot part of a configuration. Throws TonplaneError, and changes nothing, when that is impossible. */
  readonly apply: (next: Loaded, before: Loaded) => void;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Follows files until it is closed. */
export type HotReload = {
  /** Hash of the configuration in force. */
  readonly hash: string;
  /** Checks the files now. */
  look(): void;
  close(): void;
};

/** A change is in force within two of these. */
export const HOT_RELOAD_POLL_MS = 500;

/**
 * Follows the files of the configuration. A change is in force within 2 s, without a lost request. A bad file is rejected whole and
 * reported once, and the previous configuration stays. Files are checked by path: a rename or the symbolic link of a mounted ConfigMap
 * works too. A rejection that also depends on other state, such as the plans that keys name, is checked again each time.
 */
export function createHotReload(
  start: Loaded,
  { files, pollMs, unread }: HotReloadOptions,
  { load, apply, logger, register }: HotReloadDependencies,
): HotReload {
  const metrics = createReloadMetrics(register);
  let inForce = start;
  let seen = stampOf(files);
  /** Last reported rejection, which is not reported again. */
  let refused: string | undefined;
  /** Read, and refused for what else it depends on. */
  let waiting: Loaded | undefined;
  metrics.inForce(start.hash);

  const refuse = (error: unknown): void => {
    const why = error instanceof TonplaneError ? error.message : 'cannot be read';
    if (why === refused) return;
    refused = why;
    metrics.refused();
    logger.error({ problems: why.split('\n') }, 'changed configuration refused, the one before it stays');
  };

  const take = (next: Loaded): void => {
    if (isOtherNetwork(inForce.config, next.config)) {
      throw new StartError({
        code: 'other_network',
        message:
          'spec.network, spec.zeroState: expected the values of the start, got others; another network needs another process',
        data: {},
        retryable: false,
      });
    }
    const cold = changedCold(inForce.config, next.config).filter((name) => !unread.includes(name));
    apply(next, inForce);
    // The cold part stays unchanged, so that a later change of it is reported too.
    inForce = next;
    metrics.inForce(next.hash);
    metrics.applied();
    logger.info({ configHash: next.hash }, 'configuration in force');
    if (cold.length > 0) logger.warn({ fields: cold }, 'changes of these fields take effect with the next start');
  };

  const look = (): void => {
    const stamp = stampOf(files);
    if (stamp === seen && waiting === undefined) return;
    try {
      if (stamp !== seen) {
        seen = stamp;
        waiting = undefined;
        waiting = load();
      }
      if (waiting !== undefined && isChanged(inForce, waiting)) take(waiting);
      waiting = undefined;
      refused = undefined;
    } catch (error) {
      refuse(error);
    }
  };

  const timer = files.length === 0 ? undefined : setInterval(look, pollMs);
  timer?.unref();
  return {
    get hash() {
      return inForce.hash;
    },
    look,
    close: () => clearInterval(timer),
  };
}

function isChanged(before: Loaded, after: Loaded): boolean {
  const facts = ({ config, hash, ...files }: Loaded): string => canonicalHash([hash, hotConfig(config), files]);
  return facts(before) !== facts(after) || changedCold(before.config, after.config).length > 0;
}

/** Returns a text that changes when a file is written or replaced. */
function stampOf(files: readonly string[]): string {
  return files.map(factsOf).join('\n');
}

function factsOf(file: string): string {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(file, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}
