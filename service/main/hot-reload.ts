import { statSync } from 'node:fs';

import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';

import { canonicalHash, changedCold, hotConfig, isOtherNetwork, type ServiceConfig } from '../config.ts';
import { TonplaneError } from '../error.ts';
import { StartError } from './errors.ts';

/** What the command line's files say. */
export type Loaded = {
  readonly config: ServiceConfig;
  /** Of the hot part of the configuration, as it is told. */
  readonly hash: string;
  /** Of the Redis that limits are shared in; a secret, and so no part of the configuration. */
  readonly redisUrl: string | undefined;
  /** Certificates in PEM that its own must come from; undefined: the public authorities. */
  readonly redisCa: string | undefined;
  /** Of the index, and of the replica that it is read from; undefined: the same, or no index. Secrets too. */
  readonly postgresUrl: string | undefined;
  readonly postgresReplicaUrl: string | undefined;
  /** Certificates in PEM that those of Postgres must come from; undefined: as the URLs say. */
  readonly postgresCa: string | undefined;
  /** The same of the collector of traces. */
  readonly tracingCa: string | undefined;
  /** The same of the IPFS gateway, besides the public authorities. */
  readonly metadataCa: string | undefined;
};

export type HotReloadOptions = {
  /** The files that the configuration is read from; none are followed when there are none. */
  readonly files: readonly string[];
  /** How often they are looked at. */
  readonly pollMs: number;
  /** Names of fields that this role does not read: their changes are not told. */
  readonly unread: readonly string[];
};

export type HotReloadDependencies = {
  /** Reads the files. Throws TonplaneError for what is wrong in them. */
  readonly load: () => Loaded;
  /** Puts what is hot of a configuration in force; throws TonplaneError, and changes nothing, when it cannot be. */
  readonly apply: (next: Loaded, before: Loaded) => void;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Follows files until it is closed. */
export type HotReload = {
  /** Of what is in force. */
  readonly hash: string;
  /** Looks at the files now. */
  look(): void;
  close(): void;
};

/** A change is in force within two of these. */
export const hotReloadPollMs = 500;

/**
 * Follows the files of the configuration: a changed one is in force within 2 s, without a request lost; a bad one is refused whole, told once, and the
 * configuration before it stays. Files are looked at by their path, so that it does not matter whether they are written, renamed or behind the
 * symbolic link of a mounted ConfigMap. A refusal that depends on more than the files, as on the plans that keys name, is looked at again each time.
 */
export function createHotReload(
  start: Loaded,
  { files, pollMs, unread }: HotReloadOptions,
  { load, apply, logger, register }: HotReloadDependencies,
): HotReload {
  const metrics = createReloadMetrics(register);
  let inForce = start;
  let seen = stampOf(files);
  /** What was told of a refusal; the same is not told again. */
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
        message: 'spec.network, zeroState: expected those of the start; another network needs another process',
        data: {},
        retryable: false,
      });
    }
    const cold = changedCold(inForce.config, next.config).filter((name) => !unread.includes(name));
    apply(next, inForce);
    // What is cold stays as it is, so that a later change of it is told too.
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

/** Changes with every write to a file and with every file put in the place of another. */
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

function createReloadMetrics(register: Registry) {
  const reloads = new Counter({
    name: 'ton_config_reloads_total',
    help: 'Changes of the configuration files by result: applied, or refused and the configuration before kept',
    labelNames: ['result'],
    registers: [register],
  });
  const info = new Gauge({
    name: 'ton_config_hash',
    help: 'Always 1; the label is the hash of the hot configuration in force',
    labelNames: ['hash'],
    registers: [register],
  });
  return {
    inForce(hash: string): void {
      info.reset();
      info.set({ hash }, 1);
    },
    applied: () => reloads.inc({ result: 'applied' }),
    refused: () => reloads.inc({ result: 'refused' }),
  };
}
