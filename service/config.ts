import {
  indexerOf,
  ownIndexer,
  ownPostgres,
  postgresOf,
  type IndexerConfig,
  type PostgresConfig,
} from './config/database.ts';
import { readDurationMs } from './config/duration.ts';
import { ConfigError, type ConfigProblem } from './config/errors.ts';
import {
  bytes32,
  masterchainBlock,
  readGlobalConfig,
  type Anchors,
  type GlobalConfig,
  type LiteServerEntry,
} from './config/global-config.ts';
import type { TonApi } from './config/manifest.gen.ts';
import { readManifest, type Manifest } from './config/manifest.ts';
import { streamingDefaults, streamingOf, type StreamingConfig } from './config/streaming.ts';
import { tokenMetadataOf, type TokenMetadataConfig } from './config/token-metadata.ts';

export type { IndexerConfig, PostgresConfig } from './config/database.ts';
export type { TokenMetadataConfig } from './config/token-metadata.ts';
export {
  canonicalHash,
  changedCold,
  hotConfig,
  hotHash,
  hotHashOfManifest,
  isOtherNetwork,
  type HotConfig,
} from './config/hot.ts';
export { secretsOfManifest, type CaBundle, type ManifestSecrets } from './config/secrets.ts';
export { keyringRowFields, type KeyringRow } from './config/keyring-row.ts';

/** `mainnet` and `testnet` are the public networks; `custom` is any other. */
export type Network = 'mainnet' | 'testnet' | 'custom';

/**
 * Checks that an answer passes before it is served.
 * - `verified`: account, shard block, masterchain block, and the signatures of every key block since the init block
 * - `signed-head`: signatures of masterchain blocks only
 * - `none`: the lite server's word
 */
export type Trust = 'verified' | 'signed-head' | 'none';

/** API surfaces. `v2` includes `POST /api/v2/jsonRPC`, `jsonrpc` is only that; `emulate` needs no database; `stream` and `explorer` need `v3`. */
export type Surface = 'v2' | 'v3' | 'jsonrpc' | 'emulate' | 'stream' | 'explorer';

/** Rates and bounds of a group of keys, as the definition describes them. A field that changes nothing on its way from the manifest is not named here. */
export type Plan = Omit<
  ManifestPlan,
  'burst' | 'requestsPerDay' | 'maxConcurrent' | 'liteServerTiers' | 'methodCosts'
> & {
  /** At least `requestsPerSecond`. */
  readonly burst: number;
  /** Null means no limit. */
  readonly requestsPerDay: number | null;
  /** Null means no limit. */
  readonly maxConcurrent: number | null;
  readonly liteServerTiers: readonly LiteServerEntry['tier'][];
  /** Tokens that an operation takes; 1 for those not named. */
  readonly methodCosts: Readonly<Record<string, number>>;
};

/** How v2 may name the type of a block id; clients check for the first. */
export type BlockIdTag = 'ton.blockIdExt' | 'chain.blockIdExt';

/** A reference to one key of a Kubernetes Secret; the value itself is never part of the configuration. */
export type SecretKey = { readonly name: string; readonly key: string };

/** The whole configuration of the service: typed, validated, deeply frozen. Holds no secret. */
export type ServiceConfig = {
  /** Name of the TonApi; `dev` without one. */
  readonly name: string;
  /** Namespace of the TonApi; undefined where the manifest has none. */
  readonly namespace: string | undefined;
  readonly network: Network;
  readonly trust: Trust;
  /** At least one. */
  readonly liteServers: readonly LiteServerEntry[];
  /** Under `trust: none` only the zero state counts: it identifies the network. */
  readonly anchors: Anchors;
  readonly surfaces: readonly Surface[];
  readonly api: {
    /** `@type` of every block id in v2 answers. */
    readonly v2: { readonly blockIdTag: BlockIdTag; readonly legacyOperations: boolean };
    /** `Ignore` answers without parameters that an operation does not have; `Refuse` answers 422. */
    readonly v3: { readonly unknownParameters: 'Ignore' | 'Refuse' };
  };
  readonly streaming: StreamingConfig;
  /** Upper bound of one HTTP request. */
  readonly requestTimeoutMs: number;
  /** How long requests in flight may take to finish at shutdown. */
  readonly drainSeconds: number;
  readonly plans: readonly Plan[];
  /** Name of the plan of callers without a key; null: a key is needed. */
  readonly anonymousPlan: string | null;
  /** Number of proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxies: number;
  readonly http: {
    /** Connections that one address may have open; 0: no limit; null: as `trustedProxies` says. */
    readonly connectionsPerAddress: number | null;
    /** Long answers are compressed. */
    readonly compression: boolean;
    /** Host names of the internal listener besides `localhost`, the pod's own and those of a cluster. */
    readonly internalNames: readonly string[];
  };
  readonly rateLimits: {
    /** Store of the shared limits; `embedded` is a Redis the operator runs; null: in this process only. */
    readonly redis: { readonly secret: SecretKey } | 'embedded' | null;
    readonly onRedisFailure: 'Local' | 'Open' | 'Closed';
  };
  /** Null: no index, and no v3. */
  readonly postgres: PostgresConfig | null;
  /** Null: nothing is indexed. */
  readonly indexer: IndexerConfig | null;
  /** Null: what tokens keep outside of the chain is not fetched, and nothing is queued for it. */
  readonly tokenMetadata: TokenMetadataConfig | null;
  /** Keyring file (JSON); null: no keys beyond those made at start. */
  readonly keyringFile: string | null;
  readonly observability: {
    readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
    /** Null: no traces. `sampleRatio` is 0..1. */
    readonly tracing: { readonly endpoint: string; readonly sampleRatio: number } | null;
  };
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number; readonly internalPort: number };
  /** Folder for verified key blocks, which survive restarts; null: they do not. */
  readonly stateDir: string | null;
};

/** Settings of the process besides its network, from the command line, the environment or the operator. */
export type ProcessSettings = {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 8081; 0 takes a free one. */
  readonly port?: number | undefined;
  /** Default 8082; 0 takes a free one. */
  readonly internalPort?: number | undefined;
  /** Besides those of the manifest. */
  readonly internalNames?: readonly string[] | undefined;
  /** Default: nothing survives a restart. */
  readonly stateDir?: string | undefined;
  readonly keyringFile?: string | undefined;
  /** Wins over the manifest. */
  readonly logLevel?: ServiceConfig['observability']['logLevel'] | undefined;
  /** Collector where the manifest names none (OTEL_EXPORTER_OTLP_ENDPOINT); every request is traced then. */
  readonly tracingEndpoint?: string | undefined;
  /** There is a database: without a manifest v3 is served from it. */
  readonly database?: boolean | undefined;
  /** First masterchain block of the index; wins over the manifest. */
  readonly startSeqno?: number | undefined;
  /** Without a manifest: callers without a key have no limit. Default: 1 request a second. */
  readonly isOpen?: boolean | undefined;
};

/** The rest of what a configuration is made from. */
export type ManifestSources = ProcessSettings & {
  /**
   * Text of the file that `liteServerConfigRef` stands for. Without it the reference is looked up among the ConfigMaps and Secrets in the
   * manifest's own file. Where lite servers are given inline, only the trust anchors are taken from it.
   */
  readonly globalConfig?: string | undefined;
};

/** Host and ports of listeners without a setting. */
export const defaultHost = '127.0.0.1';
export const defaultPorts = { public: 8081, internal: 8082 } as const;

/** Plan of keys when no plans are defined; without a limit. */
export const unlimitedPlan = 'unlimited';

/** Plan of callers without a key when no plans are defined: 1 request a second, as on the hosted service. */
export const anonymousPlan = 'anonymous';

/**
 * The configuration of a TonApi manifest (YAML or JSON). The same texts and settings give the same configuration, byte for byte.
 *
 * @throws ConfigError listing every problem with the field's path and what was expected
 */
export function configFromManifest(text: string, sources: ManifestSources = {}): ServiceConfig {
  const manifest = readManifest(text);
  const { spec } = manifest.tonApi;
  const problems: ConfigProblem[] = [];
  const referenced = resolveGlobalConfig(manifest, sources.globalConfig, problems);
  const anchors = anchorsOf(spec) ?? referenced?.anchors ?? null;
  if (problems.length === 0 && anchors === null) {
    const where =
      spec.liteServerConfigRef === undefined ? '' : ', or a validator.zero_state in the referenced global config';
    problems.push({ path: 'spec.zeroState', expected: `expected rootHash and fileHash${where}, got nothing` });
  }
  if (problems.length > 0 || anchors === null) throw new ConfigError('config_invalid', problems);
  return freeze({
    name: String(manifest.tonApi.metadata?.['name']),
    namespace: namespaceOf(manifest.tonApi),
    network: spec.network,
    trust: spec.trust,
    liteServers: spec.liteServers?.map(liteServerOf) ?? referenced?.liteServers ?? [],
    anchors,
    surfaces: spec.surfaces,
    api: { v2: { ...apiDefaults.v2, ...spec.api?.v2 }, v3: { ...apiDefaults.v3, ...spec.api?.v3 } },
    streaming: streamingOf(spec.streaming),
    requestTimeoutMs: Math.ceil(readDurationMs(spec.requestTimeout)),
    drainSeconds: spec.rollout?.drainSeconds ?? DEFAULT_DRAIN_SECONDS,
    plans: spec.plans.map(planOf),
    anonymousPlan: spec.anonymousPlan ?? null,
    trustedProxies: spec.trustedProxies,
    rateLimits: rateLimitsOf(spec.rateLimits),
    postgres: postgresOf(spec),
    indexer: indexerOf(spec.indexer, sources.startSeqno),
    tokenMetadata: tokenMetadataOf(spec.tokenMetadata),
    ...processPart(sources, spec),
  });
}

function namespaceOf({ metadata }: TonApi): string | undefined {
  const namespace = metadata?.['namespace'];
  return typeof namespace === 'string' ? namespace : undefined;
}

/**
 * The configuration for a network given by its `global.config.json`, without a manifest. Everything is verified.
 * Callers without a key get 1 request a second unless the settings open it. Keys are of the plan `unlimited`.
 *
 * @throws ConfigError listing every problem
 */
export function configFromGlobalConfig(text: string, network: Network, settings: ProcessSettings = {}): ServiceConfig {
  const problems: ConfigProblem[] = [];
  const found = readGlobalConfigAt(GLOBAL_CONFIG, text, problems);
  if (found !== undefined && found.anchors === null) {
    problems.push({ path: `${GLOBAL_CONFIG} validator.zero_state`, expected: 'expected a block id, got nothing' });
  }
  if (found === undefined || found.anchors === null) throw new ConfigError('config_invalid', problems);
  return devConfig({ network, liteServers: found.liteServers, anchors: found.anchors }, settings);
}

/** The configuration of the dev role, for a network whose lite servers and anchors are at hand. */
export function devConfig(
  network: { readonly network: Network; readonly liteServers: readonly LiteServerEntry[]; readonly anchors: Anchors },
  settings: ProcessSettings = {},
): ServiceConfig {
  const unlimited = { requestsPerDay: null, maxConcurrent: null, archive: true, liteServerTiers, methodCosts: {} };
  return freeze({
    name: 'dev',
    namespace: undefined,
    ...network,
    trust: 'verified',
    surfaces: settings.database === true ? ['v2', 'v3', 'emulate', 'stream', 'explorer'] : ['v2', 'emulate'],
    api: apiDefaults,
    streaming: streamingDefaults,
    requestTimeoutMs: 10_000,
    drainSeconds: DEFAULT_DRAIN_SECONDS,
    plans: [
      { ...unlimited, name: anonymousPlan, requestsPerSecond: 1, burst: 1 },
      { ...unlimited, name: unlimitedPlan, requestsPerSecond: 0, burst: 0, streaming: openStreaming },
    ],
    anonymousPlan: settings.isOpen === true ? unlimitedPlan : anonymousPlan,
    trustedProxies: 0,
    rateLimits: { redis: null, onRedisFailure: 'Local' },
    postgres: settings.database === true ? ownPostgres : null,
    indexer: settings.database === true ? ownIndexer(settings.startSeqno) : null,
    tokenMetadata: null,
    ...processPart(settings, {}),
  });
}

/** Default of a plan's `liteServerTiers`. */
const liteServerTiers: Plan['liteServerTiers'] = ['shared', 'private'];

/** Defaults of `api` and of its parts. */
const apiDefaults = {
  v2: { blockIdTag: 'ton.blockIdExt', legacyOperations: false },
  v3: { unknownParameters: 'Ignore' },
} as const;

/** Bounds of streaming on a laptop: a test opens many connections. */
const openStreaming = { connections: 1_000, addresses: 10_000, traces: 1_000 };

/** Default of `rollout.drainSeconds`, for manifests without `rollout`. */
const DEFAULT_DRAIN_SECONDS = 20;

type Spec = TonApi['spec'];
type ManifestPlan = Spec['plans'][number];

function resolveGlobalConfig(
  manifest: Manifest,
  file: string | undefined,
  problems: ConfigProblem[],
): GlobalConfig | undefined {
  const reference = manifest.tonApi.spec.liteServerConfigRef;
  const text = file ?? (reference && manifest.lookup(reference));
  if (text === undefined) {
    if (reference !== undefined) {
      const { kind, name, key } = reference;
      const expected = `expected --global-config FILE, or a ${kind} ${name} with key ${key} in the same file, got neither`;
      problems.push({ path: 'spec.liteServerConfigRef', expected });
    }
    return undefined;
  }
  const at = reference === undefined ? GLOBAL_CONFIG : `spec.liteServerConfigRef (${reference.key})`;
  return readGlobalConfigAt(at, text, problems);
}

/** Name of the file in problems, where no field refers to it. */
const GLOBAL_CONFIG = 'global config';

/** @param at place of the file, before the path of each problem */
function readGlobalConfigAt(at: string, text: string, problems: ConfigProblem[]): GlobalConfig | undefined {
  const inFile: ConfigProblem[] = [];
  const found = readGlobalConfig(text, inFile);
  problems.push(...inFile.map(({ path, expected }) => ({ path: path === '' ? at : `${at} ${path}`, expected })));
  return found;
}

function anchorsOf({ zeroState, initBlock }: Spec): Anchors | undefined {
  if (zeroState === undefined) return undefined;
  const zero = masterchainBlock(0, hash(zeroState.rootHash), hash(zeroState.fileHash));
  const init = initBlock && masterchainBlock(initBlock.seqno, hash(initBlock.rootHash), hash(initBlock.fileHash));
  return { zeroState: zero, initBlock: init ?? zero };
}

/** The schema holds hashes and keys to base64 of 32 bytes. */
function hash(base64: string): Buffer {
  return bytes32(base64) ?? Buffer.alloc(0);
}

function liteServerOf({ name, address, publicKey, ...use }: NonNullable<Spec['liteServers']>[number]): LiteServerEntry {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { name, host, port: Number(address.slice(colon + 1)), publicKey: hash(publicKey), ...use, slices: null };
}

function planOf(plan: ManifestPlan): Plan {
  return {
    ...plan,
    burst: plan.burst ?? plan.requestsPerSecond,
    requestsPerDay: plan.requestsPerDay === undefined || plan.requestsPerDay === 0 ? null : plan.requestsPerDay,
    maxConcurrent: plan.maxConcurrent ?? null,
    liteServerTiers: plan.liteServerTiers ?? liteServerTiers,
    methodCosts: Object.fromEntries((plan.methodCosts ?? []).map(({ method, cost }) => [method, cost])),
  };
}

function rateLimitsOf({ redis, onRedisFailure }: Spec['rateLimits']): ServiceConfig['rateLimits'] {
  return { redis: redis.secretRef === undefined ? 'embedded' : { secret: redis.secretRef }, onRedisFailure };
}

/** Settings that a manifest cannot give, or that the command line may give instead. */
function processPart(
  settings: ProcessSettings,
  { observability, http }: Pick<Spec, 'observability' | 'http'>,
): Pick<ServiceConfig, 'http' | 'keyringFile' | 'observability' | 'listen' | 'stateDir'> {
  const { tracing } = observability ?? {};
  const { tracingEndpoint } = settings;
  return {
    http: {
      connectionsPerAddress: http?.connectionsPerAddress ?? null,
      compression: http?.compression ?? false,
      internalNames: [...(http?.internalNames ?? []), ...(settings.internalNames ?? [])],
    },
    keyringFile: settings.keyringFile ?? null,
    observability: {
      logLevel: settings.logLevel ?? observability?.logLevel ?? 'info',
      tracing:
        tracing !== undefined
          ? { endpoint: tracing.endpoint, sampleRatio: Number(tracing.sampleRatio) }
          : tracingEndpoint === undefined
            ? null
            : { endpoint: tracingEndpoint, sampleRatio: 1 },
    },
    listen: {
      host: settings.host ?? defaultHost,
      port: settings.port ?? defaultPorts.public,
      internalPort: settings.internalPort ?? defaultPorts.internal,
    },
    stateDir: settings.stateDir ?? null,
  };
}

/** Freezes all the way down, buffers aside: their bytes cannot be frozen. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
