import type { RequestOptions } from 'node:https';

import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Agent, type Dispatcher } from 'undici';

import { usageError } from '../errors.ts';

/** API server and our identity there. */
export type Credentials = {
  /** `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string;
  /** Namespace of the context or of the pod. */
  readonly namespace: string | undefined;
  /** Connections and headers of the moment; read again from their source after `AGE_MAX_MS` or `reload`. */
  current(): Promise<{ readonly dispatcher: Dispatcher; readonly headers: Readonly<Record<string, string>> }>;
  /** Discards credentials that the server refused. The next request reads them again. */
  reload(): void;
  close(): Promise<void>;
};

/** The kubelet replaces a token after 80 % of an hour at the earliest. An age of one minute is therefore never too late. */
const AGE_MAX_MS = 60_000;

/** A watch holds a connection of its own: some twenty kinds, times the watched namespaces. Other requests come on top. */
const CONNECTIONS_MAX = 256;

/** A server that does not shake hands within this is as good as away. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Idle connections go before a load balancer in between forgets them. */
const IDLE_MS = 30_000;

/**
 * Loads credentials of a kubeconfig file, else of the environment (`KUBECONFIG`, `~/.kube/config`) or of the pod.
 * Only this module loads the package for them, because it costs 95 MB (operator/README.md#kubernetes-client).
 *
 * @throws OptionsError for a file that cannot be read, or a context that is not in it
 */
export async function createCredentials(
  options: { readonly kubeconfig: string | undefined; readonly context?: string | undefined },
  dependencies: { readonly now: () => number },
): Promise<Credentials> {
  const client = await import('@kubernetes/client-node/dist/config.js');
  const config = new client.KubeConfig();
  load(config, options.kubeconfig);
  if (options.context !== undefined) choose(config, options.context);
  const cluster = config.getCurrentCluster();
  const server = (cluster?.server ?? '').replace(/\/+$/, '');
  const retired = new Set<Agent>();
  let material: { text: string; agent: Agent; headers: Readonly<Record<string, string>> } | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const { tls, headers } = await readMaterial(config);
    const text = JSON.stringify(tls);
    if (material !== undefined && material.text !== text) retire(material.agent);
    const agent = material?.text === text ? material.agent : createAgent(tls);
    material = { text, agent, headers };
    readAtMs = dependencies.now();
  }

  /** Watches on it go on until they end by themselves. */
  function retire(agent: Agent): void {
    retired.add(agent);
    void agent.close().finally(() => retired.delete(agent));
  }

  return {
    server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async current() {
      if (material === undefined || dependencies.now() - readAtMs > AGE_MAX_MS) {
        reading ??= read().finally(() => {
          reading = undefined;
        });
        await reading;
      }
      if (material === undefined) throw new TypeError('credentials were read and are not there');
      return { dispatcher: material.agent, headers: material.headers };
    },
    reload() {
      readAtMs = Number.NEGATIVE_INFINITY;
    },
    async close() {
      await Promise.all([...retired, ...(material ? [material.agent] : [])].map((agent) => agent.destroy()));
    },
  };
}

function load(config: KubeConfig, file: string | undefined): void {
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw usageError(`kubeconfig: ${(error as Error).message}`);
  }
}

function choose(config: KubeConfig, context: string): void {
  const names = config.getContexts().map(({ name }) => name);
  if (!names.includes(context)) throw usageError(`--context: expected one of ${names.join(', ')}, got ${context}`);
  config.setCurrentContext(context);
}

type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;

/** Current certificates, keys and headers from the kubeconfig, its files, plugins and token files. */
async function readMaterial(config: KubeConfig): Promise<{ tls: Tls; headers: Readonly<Record<string, string>> }> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, passphrase, rejectUnauthorized, servername } = options;
  const tls = Object.fromEntries(
    Object.entries({ ca, cert, key, passphrase, rejectUnauthorized, servername })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('utf8') : value]),
  ) as Tls;
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  if (typeof options.auth === 'string')
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return { tls, headers };
}

function createAgent(tls: Tls): Agent {
  return new Agent({
    connect: { ...tls, timeout: CONNECT_TIMEOUT_MS } as Agent.Options['connect'],
    connections: CONNECTIONS_MAX,
    keepAliveTimeout: IDLE_MS,
    // Bounds of a request and of a watch are ours, by signal: a watch is silent for minutes and well.
    headersTimeout: 0,
    bodyTimeout: 0,
  } as Agent.Options);
}
