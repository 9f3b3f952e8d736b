import { parse } from 'yaml';

import { startNetwork, type NetworkProcess } from './api-processes.ts';
import type { ClusterObject } from './cluster-client.ts';
import { startCluster, type Cluster } from './cluster.ts';
import type { ControlPlaneOptions } from './control-plane.ts';
import { applyDefinitions } from './crds.ts';
import { operatorProgram, serviceProgram } from './programs.ts';
import { startRedis, type RedisServer } from './redis-server.ts';

/** Paths of our resources and of what they make, in the namespace of the tests. */
export const paths = {
  tonApis: '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapis',
  tonApiKeys: '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapikeys',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  pods: '/api/v1/namespaces/default/pods',
  secrets: '/api/v1/namespaces/default/secrets',
  configMaps: '/api/v1/namespaces/default/configmaps',
  services: '/api/v1/namespaces/default/services',
} as const;

/** A cluster whose pods are real processes of the service, over a lite server that plays the recorded network. */
export type TonCluster = Cluster & {
  readonly network: NetworkProcess;
  readonly redis: RedisServer | undefined;
  /** A TonApi for the network, with a Redis when there is one; `spec` adds to it or replaces what is in it. */
  tonApi(name: string, spec?: Readonly<Record<string, unknown>>): ClusterObject;
  /** Starts over with `TEST_LOGS`: what the pods have written, by name. */
  conditions(name: string): Promise<Readonly<Record<string, { status: string; reason: string; message: string }>>>;
};

/** The Secret with the URL of the tests' Redis. */
const redisSecret = 'redis';

/** What stands for the images of the project, from any registry. Any tag of the service is the same program. */
export const images = [
  { image: /(?:^|\/)tonplane\/service:/, entrypoint: ['node', serviceProgram] },
  { image: /(?:^|\/)tonplane\/operator:/, entrypoint: ['node', operatorProgram] },
  { image: /^redis:/, entrypoint: ['redis-server'], listenArgs: (address: string) => ['--bind', address] },
] as const;

/** Starts the cluster with our resources defined, or not where a chart is to do it. */
export async function startTonCluster(
  options: ControlPlaneOptions & {
    readonly nodes?: number;
    readonly refreshMs?: number;
    readonly defined?: boolean;
  } = {},
): Promise<TonCluster> {
  const { defined = true } = options;
  const [cluster, network, redis] = await Promise.all([
    startCluster({ images, ...options }),
    startNetwork(),
    startRedis(),
  ]);
  if (defined) await applyDefinitions(cluster.client);
  if (redis !== undefined) {
    await cluster.client.create(paths.secrets, { metadata: { name: redisSecret }, stringData: { url: redis.url } });
  }
  const rateLimits =
    redis === undefined ? {} : { rateLimits: { redis: { secretRef: { name: redisSecret } }, onRedisFailure: 'Local' } };
  return {
    ...cluster,
    network,
    redis,
    tonApi(name, spec) {
      const manifest = parse(network.manifest({ ...rateLimits, ...spec }, name)) as ClusterObject;
      return { ...manifest, metadata: { name, namespace: 'default' } };
    },
    async conditions(name) {
      const found = (await cluster.client.get(`${paths.tonApis}/${name}`))['status']?.conditions ?? [];
      return Object.fromEntries(
        (found as { type: string; status: string; reason: string; message: string }[]).map((one) => [one.type, one]),
      );
    },
    async stop() {
      await cluster.stop();
      await Promise.all([network.stop(), redis?.close()]);
    },
  };
}
