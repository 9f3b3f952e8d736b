import { Cluster, Redis } from 'ioredis';

import { untrustedCertificate } from '#service/tls/untrusted-certificate.ts';

/** One Redis or the nodes of a cluster, behind the same few commands. */
export type Connection = Redis | Cluster;

/** Where a Redis is. */
export type RedisServer = {
  /** As `redisUrlProblem` has it. A secret: never logged. */
  readonly url: string;
  /** Certificates in PEM that its own must come from; undefined: the public authorities. */
  readonly ca?: string | undefined;
};

export type ConnectionOptions = RedisServer & {
  /** Milliseconds until the next try to connect. */
  readonly retryMs: () => number;
};

/** Forms of the URL of a Redis; a cluster is given by some of its nodes, with commas between. */
const single = /^rediss?:\/\/./;
const cluster = /^(rediss?)\+cluster:\/\/(?:([^/@]*)@)?([^/@]+)\/?$/;

const defaultPort = 6379;

/** A node that does not take a connection in this time is not there. */
const connectTimeoutMs = 1000;

/** What is wrong with the URL; undefined when it is one. Says nothing of its text, which may hold a password. */
export function redisUrlProblem(url: string): string | undefined {
  const nodes = cluster.exec(url)?.[3];
  if (nodes !== undefined && nodes.split(',').every((node) => nodeOf(node) !== undefined)) return undefined;
  if (single.test(url) && URL.canParse(url)) return undefined;
  return 'expected redis://…, rediss://…, or redis+cluster://host:port,host:port (rediss+cluster with TLS)';
}

/** Reports why a Redis with authorities cannot be reached by the URL: it is not encrypted. Undefined when it can. */
export function redisTlsProblem({ url, ca }: RedisServer): string | undefined {
  if (ca === undefined || /^rediss(?:\+cluster)?:/.test(url)) return undefined;
  return 'expected rediss:// or rediss+cluster://, since spec.rateLimits.redis.caBundle is given';
}

/** Reports that the certificate of a Redis is refused, naming the field; undefined for another failure of a connection. */
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

/** Questions are never kept for later nor sent twice: whoever asks is told at once that Redis is away. */
export function connectRedis({ url, ca, retryMs }: ConnectionOptions): Connection {
  const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, connectTimeout: connectTimeoutMs };
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
      // A moved slot is found at the second or third try; more would outlive the time a question has.
      maxRedirections: 4,
      retryDelayOnFailover: 20,
      slotsRefreshTimeout: connectTimeoutMs,
      // Addresses as the cluster tells them: with TLS a certificate names hosts, which a look-up would lose.
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
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3] ?? defaultPort) };
}
