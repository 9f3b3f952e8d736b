import { Cluster, Redis } from 'ioredis';

/** One Redis or the nodes of a cluster, behind the same few commands. */
export type Connection = Redis | Cluster;

export type ConnectionOptions = {
  /** A secret: never logged. */
  readonly url: string;
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

export function isCluster(connection: Connection): boolean {
  return connection instanceof Cluster;
}

/** Questions are never kept for later nor sent twice: whoever asks is told at once that Redis is away. */
export function connectRedis({ url, retryMs }: ConnectionOptions): Connection {
  const once = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, connectTimeout: connectTimeoutMs };
  const [, scheme, login = '', nodes = ''] = cluster.exec(url) ?? [];
  if (scheme === undefined) return new Redis(url, { ...once, enableOfflineQueue: false, retryStrategy: retryMs });
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
        ...(scheme === 'rediss' && { tls: {} }),
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
