import { join } from 'node:path';

import { projectRoot } from '../style/sources.ts';
import { startCluster, type Cluster } from './cluster.ts';
import type { ClusterObject } from './cluster-client.ts';
import { applyDefinitions } from './crds.ts';
import { paths } from './ton-cluster.ts';

/** A cluster whose pods are stand-ins for releases of the service: enough for what is about pods and not about TON. */
export type StandInCluster = Cluster & {
  /** Makes a TonApi of one such pod, or as `spec` says. */
  create(name: string, spec?: Readonly<Record<string, unknown>>): Promise<ClusterObject>;
  change(name: string, spec: Readonly<Record<string, unknown>>): Promise<ClusterObject>;
  condition(name: string, type: string): Promise<{ readonly reason: string; readonly message: string } | undefined>;
  deployment(name: string): Promise<ClusterObject | undefined>;
  /** Image of a Deployment's template. */
  imageOf(name: string): Promise<string>;
};

const program = join(projectRoot, 'test/support/stand-in-release.ts');

/** A release of each kind: none fails, or one request in twenty. Any tag that begins so is the same program. */
const images = [
  { image: /^release:good/, entrypoint: ['node', program, '--fail-every', '0'] },
  { image: /^release:bad/, entrypoint: ['node', program, '--fail-every', '20'] },
];

const hash = `${'A'.repeat(43)}=`;

const smallest = {
  network: 'custom',
  trust: 'none',
  zeroState: { rootHash: hash, fileHash: hash },
  liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: hash }],
  plans: [{ name: 'free', requestsPerSecond: 1000 }],
  anonymousPlan: 'free',
  requestTimeout: '1s',
  rateLimits: { redis: { secretRef: { name: 'redis' } } },
  replicas: 1,
  rollout: { drainSeconds: 1 },
};

export async function startStandInCluster(): Promise<StandInCluster> {
  const cluster = await startCluster({ images });
  const { client } = cluster;
  await applyDefinitions(client);
  await client.create(paths.secrets, { metadata: { name: 'redis' }, stringData: { url: 'redis://nowhere' } });
  const deployment = (name: string): Promise<ClusterObject | undefined> => client.find(`${paths.deployments}/${name}`);
  return {
    ...cluster,
    create: (name, spec) =>
      client.create(paths.tonApis, {
        apiVersion: 'tonplane.dev/v1alpha1',
        kind: 'TonApi',
        metadata: { name, namespace: 'default' },
        spec: { ...smallest, ...spec },
      }),
    change: (name, spec) => client.merge(`${paths.tonApis}/${name}`, { spec }),
    async condition(name, type) {
      const { status } = await client.get(`${paths.tonApis}/${name}`);
      const found = (status?.conditions ?? []) as { type: string; reason: string; message: string }[];
      return found.find((one) => one.type === type);
    },
    deployment,
    imageOf: async (name) => (await deployment(name))?.['spec'].template.spec.containers[0].image,
  };
}
