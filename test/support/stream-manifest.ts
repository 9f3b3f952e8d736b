import { stringify } from 'yaml';

import { configFromGlobalConfig } from '#service/config.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';

type GlobalConfig = {
  readonly liteservers: readonly { readonly port: number; readonly id: { readonly key: string } }[];
  readonly validator: { readonly zero_state: { readonly root_hash: string; readonly file_hash: string } };
};

/**
 * Manifest of pods that serve streams of a network. It has the name of an API in this process, with which pods share pending traces.
 * @param http settings of the listener
 */
export function streamManifest(network: PrivateNetwork, http?: object): string {
  const { liteservers, validator } = network.globalConfig() as GlobalConfig;
  const { root_hash: rootHash, file_hash: fileHash } = validator.zero_state;
  const { name } = configFromGlobalConfig(JSON.stringify(network.globalConfig()), 'custom', {});
  return stringify({
    apiVersion: 'tonplane.dev/v1alpha1',
    kind: 'TonApi',
    metadata: { name },
    spec: {
      network: 'custom',
      surfaces: ['v3', 'stream'],
      ...(http && { http }),
      liteServers: [{ name: 'own', address: `127.0.0.1:${liteservers[0]!.port}`, publicKey: liteservers[0]!.id.key }],
      zeroState: { rootHash, fileHash },
      plans: [{ name: 'free', requestsPerSecond: 100_000, streaming: { connections: 20_000, addresses: 10_000 } }],
      anonymousPlan: 'free',
      rateLimits: { redis: { secretRef: { name: 'redis' } } },
      postgres: { secretRef: { name: 'index' } },
      indexer: {},
      requestTimeout: '2s',
      rollout: { drainSeconds: 2 },
    },
  });
}
