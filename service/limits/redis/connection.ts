import { Cluster, Redis } from 'ioredis';

import { untrustedCertificate } from '#service/tls/untrusted-certificate.ts';

/** Client of one Redis or of a cluster, with the same few commands. */
export type Connection = Redis | Cluster;

/** Address of a Redis. */
export type RedisServer = {
  /** URL accepted by `redisUrlProblem`. The URL is a secret and never logged. */
  readonly url: string;
  /** Certificate authorities in PEM for the server's certificate; undefined: the public authorities. */
  readonly ca?: string | undefined;
};

export type ConnectionOptions = RedisServer & {
  /** Returns the milliseconds until the next try to connect. */
  readonly retryMs: () => number;
};

/** Form of the URL of a single Redis. The URL of a cluster names several of its nodes, separated by commas. */
const single = /^rediss?:\/\/./;
const cluster = /^(rediss?)\+cluster:\/\/(?:([^/@]*)@)?([^/@]+)\/?$/;

const DEFAULT_PORT = 6379;

/** Milliseconds in which a node must accept a connection, else it counts as unreachable. */
const CONNECT_TIMEOUT_MS = 1000;

/** Returns the problem of a URL; undefined when it is valid. The problem does not quote the text, which may contain a password. */
export function redisUrlProblem(url: string): string | undefined {
  const nodes = cluster.exec(url)?.[3];
  if (nodes !== undefined && nodes.split(',').every((node) => nodeOf(node) !== undefined)) return undefined;
  if (single.test(url) && URL.canParse(url)) return undefined;
  return 'expected redis://…, rediss://…, or redis+cluster://host:port,host:port (rediss+cluster with TLS)';
}

/** Returns a problem if authorities are given for a URL without encryption; else undefined. */
export function redisTlsProblem({ url, ca }: RedisServer): string | undefined {
  if (ca === undefined || /^rediss(?:\+cluster)?:/.test(url)) return undefined;
  return 'expected rediss:// or rediss+cluster://, because spec.rateLimits.redis.caBundle is given';
}

/** Returns the field to mend if Redis' certificate is refused; undefined for another failure of a connection. */
export function untrustedRedis(error: unknown): string | undefined {
  // A cluster reports the failure of its last node.
  const cause = error instanceof Error && 'lastNodeError' in error ? error.lastNodeError : error;
  const untrusted = untrustedCertificate(cause);
  if (untrusted === undefined || !(cause instanceof Error)) return undefined;
  const expected =
    untrusted === 'chain'
      ? 'spec.rateLimits.redis.caBundle (--redis-ca-file): expected the authority of the certificate of Redis'
      : 'spec.rateLimits.redis.secretRef: expected a host that the certificate of Redis names';
  return `${expected}, got: ${cause.message}`;
}

export function isCluster(connection: Connection): boolean {
  return connection instanceof Cluster;
}

/** Connects to Redis. Commands are never queued nor sent twice: if Redis is unavailable, they reject at once. */
export function connectRedis({ url, ca, retryMs }: ConnectionOptions): Connection {
  const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, connectTimeout: CONNECT_TIMEOUT_MS };
  const [, scheme, login = '', nodes = ''] = cluster.exec(url) ?? [];
  const authorities = ca === undefined ? {} : { ca };
  if (scheme === undefined) {
    const tls = url.startsWith('rediss:') && { tls: authorities };
    return new Redis(url, { ...once, ...tls, enableOfflineQueue: false, retryStrategy: retryMs });
  }
  const [username, ...password] = login.split(':').map((part) => decodeURIComponent(part));
  return new Cluster(
    nodes.split(',').flatMap((node) => nodeOf(node) ?? []),
    {
      enableOfflineQueue: false,
      clusterRetryStrategy: retryMs,
      // A moved slot is found at the second or third try. More tries would outlast the timeout of a query.
      maxRedirections: 4,
      retryDelayOnFailover: 20,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // Addresses stay as the cluster reports them. With TLS a certificate names hosts, which a lookup would lose.
      dnsLookup: (address, done) => done(null, address),
      redisOptions: {
        ...once,
        ...(username !== undefined && username !== '' && { username }),
        ...(password.length > 0 && { password: password.join(':') }),
        ...(scheme === 'rediss' && { tls: authorities }),
      },
    },
  );
}

/** `host`, `host:port`, `[v6]:port`. */
function nodeOf(text: string): { host: string; port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:,\s]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3] ?? DEFAULT_PORT) };
}
