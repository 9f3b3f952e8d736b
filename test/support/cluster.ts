import { createClusterClient, type ClusterClient } from './cluster-client.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import type { ImageProgram } from './process-kubelet-pod.ts';
import { createProcessKubelet, type ProcessKubelet } from './process-kubelet.ts';
import { createServiceForwarder, type ServiceForwarder } from './service-forwarder.ts';

/** A whole cluster on loopback: a control plane, nodes whose pods are processes, and Services that lead to them. */
export type Cluster = {
  readonly plane: ControlPlane;
  readonly client: ClusterClient;
  readonly forwarder: ServiceForwarder;
  readonly nodes: readonly ProcessKubelet[];
  stop(): Promise<void>;
};

/** Starts a cluster; `images` says what runs for which image. */
export async function startCluster(
  options: ControlPlaneOptions & {
    readonly images: readonly ImageProgram[];
    readonly nodes?: number;
    readonly refreshMs?: number;
  },
): Promise<Cluster> {
  const { images, nodes: count = 1, refreshMs = 1000 } = options;
  const plane = await startControlPlane(options);
  const client = createClusterClient({ ...plane, token: plane.adminToken });
  const forwarder = createServiceForwarder(client);
  const { namesFile } = forwarder;
  const nodes: ProcessKubelet[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
    await forwarder.close();
    await client.close();
    await plane.stop();
  };
  try {
    for (let node = 0; node < count; node++) {
      nodes.push(
        await createProcessKubelet({ client, authority: plane.authority, namesFile, images, node, refreshMs }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { plane, client, forwarder, nodes, stop };
}
