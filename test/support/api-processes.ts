import { stringify } from 'yaml';

import { startService, type ServiceProcess } from './service-process.ts';

type GlobalConfig = {
  readonly liteservers: readonly { readonly port: number; readonly id: { readonly key: string } }[];
  readonly validator: { readonly zero_state: { readonly root_hash: string; readonly file_hash: string } };
};

/** A process that plays a network, over whose lite server further processes of the `api` role run. */
export type NetworkProcess = {
  /** A manifest for the network; `spec` adds to it or replaces what is in it. */
  manifest(spec?: Readonly<Record<string, unknown>>, name?: string): string;
  /** Its lite server as an entry of a manifest. */
  readonly liteServer: Readonly<Record<string, unknown>>;
  readonly service: ServiceProcess;
  stop(): Promise<unknown>;
};

/** @param args of the process; default: a recorded network whose head stands */
export async function startNetwork(args: readonly string[] = ['--pace', '3600']): Promise<NetworkProcess> {
  const service = await startService(args);
  const answer = await fetch(`${service.internalUrl}/global.config.json`);
  const { liteservers, validator } = (await answer.json()) as GlobalConfig;
  const [liteServer] = liteservers;
  const own = { name: 'own', address: `127.0.0.1:${liteServer?.port}`, publicKey: liteServer?.id.key };
  const { root_hash: rootHash, file_hash: fileHash } = validator.zero_state;
  return {
    liteServer: own,
    service,
    manifest: (spec = {}, name = 'under-test') =>
      stringify({
        apiVersion: 'tonplane.dev/v1alpha1',
        kind: 'TonApi',
        metadata: { name },
        spec: {
          network: 'custom',
          liteServers: [own],
          zeroState: { rootHash, fileHash },
          plans: [{ name: 'free', requestsPerSecond: 100_000 }],
          anonymousPlan: 'free',
          rateLimits: { redis: { embedded: true } },
          ...spec,
        },
      }),
    stop: () => service.stop(),
  };
}

export async function statusOf(service: ServiceProcess): Promise<Record<string, unknown>> {
  return (await (await fetch(`${service.internalUrl}/status`)).json()) as Record<string, unknown>;
}

/** Status of one cheap request. */
export async function ask(service: ServiceProcess, key?: string): Promise<number> {
  const headers = key === undefined ? {} : { 'x-api-key': key };
  const answer = await fetch(`${service.url}/api/v2/getMasterchainInfo`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}
