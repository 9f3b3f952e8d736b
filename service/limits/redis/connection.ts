import { Cluster, Redis } from 'ioredis';

import { isClientCertificateRefused, type ClientCertificate } from '#service/tls/client-certificate.ts';
import { untrustedCertificate } from '#service/tls/untrusted-certificate.ts';
import { sentinelConnector } from './sentinel-connector.ts';

/** Client of one Redis, which Sentinels may name, or of a cluster, with the same few commands. */
export type Connection = Redis | Cluster;

/** Address of a Redis. */
export type RedisServer = {
  /** URL accepted by `redisUrlProblem`. The URL is a secret and never logged. */
  readonly url: string;
  /** Certificate authorities in PEM for the server's certificate; undefined: the public authorities. */
  readonly ca?: string | undefined;
  /** Certificate of this client, if Redis asks for one; a secret too. */
  readonly clientCertificate?: ClientCertificate | undefined;
};

export type ConnectionOptions = RedisServer & {
  /** Returns the milliseconds until the next try to connect. */
  readonly retryMs: () => number;
};

/**
 * Forms of the URL of a single Redis, of a cluster, and of a Redis behind Sentinels. A cluster has several nodes, separated by commas.
 * So has a set of Sentinels, with the name of the primary after them and their own login in the query.
 */
const single = /^rediss?:\/\/./;
const several = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^/@?]*)@)?([^/@?]+)(?:\/([^/?]*))?(?:\?(.*))?$/;

const DEFAULT_PORTS = { cluster: 6379, sentinel: 26_379 } as const;

/** Milliseconds in which a node must accept a connection, else it counts as unreachable. */
const CONNECT_TIMEOUT_MS = 1000;

/** Returns the problem of a URL; undefined when it is valid. The problem does not quote the text, which may contain a password. */
export function redisUrlProblem(url: string): string | undefined {
  if (serversOf(url) !== undefined || (single.test(url) && URL.canParse(url))) return undefined;
  return 'expected redis://…, redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/NAME; rediss with TLS';
}

/** Returns a problem if authorities or a client certificate are given for a URL without encryption; else undefined. */
export function redisTlsProblem({ url, ca, clientCertificate }: RedisServer): string | undefined {
  if ((ca ?? clientCertificate) === undefined || /^rediss(?:\+cluster|\+sentinel)?:/.test(url)) return undefined;
  const field = `spec.rateLimits.redis.${ca === undefined ? 'clientCertificate' : 'caBundle'}`;
  return `expected rediss://, rediss+cluster:// or rediss+sentinel://, because ${field} is given`;
}

/**
 * Returns the field to mend if the certificate of Redis is refused, or that of this client; undefined for another failure of a
 * connection.
 */
export function untrustedRedis(error: unknown): string | undefined {
  // A cluster reports the failure of its last node.
  const cause = error instanceof Error && 'lastNodeError' in error ? error.lastNodeError : error;
  if (cause instanceof Error && isClientCertificateRefused(cause)) {
    const field = 'spec.rateLimits.redis.clientCertificate (--redis-client-certificate-file)';
    return `${field}: expected a certificate that Redis accepts, got: ${cause.message}`;
  }
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
export function connectRedis({ url, ca, clientCertificate, retryMs }: ConnectionOptions): Connection {
  const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, connectTimeout: CONNECT_TIMEOUT_MS };
  const own = clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key };
  const tls = url.startsWith('rediss') && { tls: { ...(ca !== undefined && { ca }), ...own } };
  const one = { ...once, ...tls, enableOfflineQueue: false, retryStrategy: retryMs };
  const servers = serversOf(url);
  if (servers === undefined) return new Redis(url, one);
  if (servers.kind === 'sentinel') {
    const Connector = sentinelConnector((error) => reportRefusal(client, error));
    const options = { ...one, ...servers.login, ...sentinelOptions(servers, tls, retryMs) };
    const client: FollowingRedis = new FollowingRedis({ ...options, Connector });
    return client.follow(retryMs);
  }
  const cluster = new Cluster([...servers.nodes], {
    enableOfflineQueue: false,
    clusterRetryStrategy: retryMs,
    // A moved slot is found at the second or third try. More tries would outlast the timeout of a query.
    maxRedirections: 4,
    retryDelayOnFailover: 20,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // Addresses stay as the cluster reports them. With TLS a certificate names hosts, which a lookup would lose.
    dnsLookup: (address, done) => done(null, address),
    redisOptions: { ...once, ...servers.login, ...tls },
  });
  return cluster.on('+node', (node: Redis) => {
    // The cluster is read over a second connection to the node, whose errors ioredis drops.
    const duplicate = node.duplicate.bind(node);
    node.duplicate = (options) => duplicate(options).on('error', (error) => reportRefusal(cluster, error));
  });
}

/** Reports a refused certificate, which ioredis does not for a cluster and for Sentinels. Without a listener an error would end the process. */
function reportRefusal(client: Connection, error: Error): void {
  if (untrustedRedis(error) !== undefined && client.listenerCount('error') > 0) client.emit('error', error);
}

/**
 * Client behind Sentinels that only its owner ends. ioredis ends a client for good if Sentinels announce another primary while the client
 * connects.
 */
class FollowingRedis extends Redis {
  #isClosed = false;

  /** @param retryMs milliseconds until the next try to connect */
  follow(retryMs: () => number): this {
    return this.on('end', () => {
      setTimeout(() => {
        if (!this.#isClosed && this.status === 'end') this.connect().catch(() => undefined);
      }, retryMs()).unref();
    });
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.#isClosed = true;
    super.disconnect(reconnect);
  }
}

/** Options by which a client asks Sentinels for the primary, and asks again when they name another. */
function sentinelOptions(
  { nodes, name, sentinelLogin }: Extract<Servers, { readonly kind: 'sentinel' }>,
  tls: false | { readonly tls: object },
  retryMs: () => number,
) {
  return {
    sentinels: [...nodes],
    name,
    ...sentinelLogin,
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls.tls }),
    sentinelRetryStrategy: retryMs,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    failoverDetector: true,
    // A primary that became a replica answers until its connections are closed. The command fails, and the next connection is to the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
}

type Node = { readonly host: string; readonly port: number };
type Login = { readonly username?: string; readonly password?: string };

type Servers =
  | { readonly kind: 'cluster'; readonly nodes: readonly Node[]; readonly login: Login }
  | {
      readonly kind: 'sentinel';
      readonly nodes: readonly Node[];
      readonly login: Login;
      /** Name by which the Sentinels know the primary. */
      readonly name: string;
      readonly sentinelLogin: { readonly sentinelUsername?: string; readonly sentinelPassword?: string };
    };

/** Returns the nodes that the URL of a cluster or of Sentinels names; undefined for any other text. */
function serversOf(url: string): Servers | undefined {
  const [, , kind, login = '', hosts = '', path = '', query = ''] = several.exec(url) ?? [];
  if (kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const nodes = hosts.split(',').flatMap((text) => nodeOf(text, DEFAULT_PORTS[kind]) ?? []);
  const [[username, ...password], name] = [login.split(':').map(decoded), decoded(path)];
  const settings = new URLSearchParams(query);
  const others = [...settings.keys()].some((key) => kind === 'cluster' || !sentinelSettings.has(key));
  if (nodes.length !== hosts.split(',').length || others) return undefined;
  if (username === undefined || name === undefined || password.includes(undefined)) return undefined;
  if ((kind === 'cluster') !== (name === '')) return undefined;
  const given = {
    ...(username !== '' && { username }),
    ...(password.length > 0 && { password: password.join(':') }),
  };
  if (kind === 'cluster') return { kind, nodes, login: given };
  return { kind, nodes, login: given, name, sentinelLogin: Object.fromEntries(settings) };
}

const sentinelSettings: ReadonlySet<string> = new Set(['sentinelUsername', 'sentinelPassword']);

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `host`, `host:port`, `[v6]:port`. */
function nodeOf(text: string, defaultPort: number): Node | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:,\s]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3] ?? defaultPort) };
}
