/** `mainnet` and `testnet` are the public networks; `custom` is any other. */
export type Network = 'mainnet' | 'testnet' | 'custom';

/**
 * What must hold before an answer is served. `verified`: account, shard block, masterchain block and the signatures of every key block since the init
 * block; `signed-head`: signatures of masterchain blocks only; `none`: the lite server's word.
 */
export type Trust = 'verified' | 'signed-head' | 'none';

/** API surfaces. `v2` includes `POST /api/v2/jsonRPC`; `jsonrpc` alone serves only that. */
export type Surface = 'v2' | 'v3' | 'jsonrpc' | 'stream';

/** One lite server as configured. */
export type LiteServerEntry = {
  /** Unique, for logs and metrics. */
  readonly name: string;
  /** IPv4, IPv6 (without brackets) or a host name. */
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** `archive` keeps old states, `latest` recent ones only. */
  readonly role: 'latest' | 'archive';
  /** Share of reads relative to the others, 1..100. */
  readonly weight: number;
  /** Queries in flight at most. */
  readonly maxInFlight: number;
};

/** A masterchain block that is trusted without a proof; same shape as `BlockId`. */
export type AnchorBlock = {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly rootHash: Buffer;
  readonly fileHash: Buffer;
};

/** Where trust begins. */
export type Anchors = {
  /** Seqno 0; tells networks apart: it must equal `init` of getMasterchainInfo. */
  readonly zeroState: AnchorBlock;
  /** A key block or the zero state; the chain of proofs starts here. */
  readonly initBlock: AnchorBlock;
};

/** What a caller may do in a time. */
export type Plan = {
  readonly name: string;
  /** 0 means no rate limit. */
  readonly requestsPerSecond: number;
  /** Requests at once after a pause; at least `requestsPerSecond`. */
  readonly burst: number;
  /** Per UTC day; null means no limit. */
  readonly requestsPerDay: number | null;
  /** Requests running at once; null means no limit. */
  readonly maxConcurrent: number | null;
  /** May read what only archive lite servers have. */
  readonly archive: boolean;
  /** Tokens that an operation takes; 1 for those not named. */
  readonly methodCosts: Readonly<Record<string, number>>;
};

/** A reference to one key of a Kubernetes Secret; the value itself is never part of the configuration. */
export type SecretKey = { readonly name: string; readonly key: string };

/** The whole configuration of the service: typed, validated, deeply frozen. Holds no secret. */
export type ServiceConfig = {
  /** Name of the TonApi; `dev` without one. */
  readonly name: string;
  readonly network: Network;
  readonly trust: Trust;
  /** At least one. */
  readonly liteServers: readonly LiteServerEntry[];
  /** Null only under `trust: none`. */
  readonly anchors: Anchors | null;
  readonly surfaces: readonly Surface[];
  /** Upper bound of one HTTP request. */
  readonly requestTimeoutMs: number;
  /** How long requests in flight may take to finish at shutdown. */
  readonly drainSeconds: number;
  readonly plans: readonly Plan[];
  /** Name of the plan of callers without a key; null: a key is needed. */
  readonly anonymousPlan: string | null;
  /** Number of proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxies: number;
  readonly rateLimits: {
    /** Where the shared limits are kept; `embedded` is a Redis the operator runs; null: in this process only. */
    readonly redis: { readonly secret: SecretKey } | 'embedded' | null;
    readonly onRedisFailure: 'Local' | 'Open' | 'Closed';
  };
  /** Keyring file (JSON); null: no keys beyond those made at start. */
  readonly keyringFile: string | null;
  readonly observability: {
    readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
    /** Null: no traces. `sampleRatio` is 0..1. */
    readonly tracing: { readonly endpoint: string; readonly sampleRatio: number } | null;
  };
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number; readonly internalPort: number };
  /** Folder for what is kept over restarts (verified key blocks); null: nothing is kept. */
  readonly stateDir: string | null;
};
