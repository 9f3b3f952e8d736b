import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ClusterClient, ClusterObject } from './cluster-client.ts';
import { now } from './process-kubelet-container.ts';
import { createPod, type ImageProgram, type RunningPod } from './process-kubelet-pod.ts';
import { createReaper } from './reaper.ts';
import { workerSlot } from './worker-slot.ts';

export type ProcessKubeletOptions = {
  readonly client: ClusterClient;
  /** PEM that pods trust the API server by. */
  readonly authority: string;
  /** What runs for which image; a container with a command of its own needs none. */
  readonly images: readonly ImageProgram[];
  /** Addresses of Services for the pods, see service-forwarder.ts. */
  readonly namesFile: string;
  /** Number of the node, 0 to 3: its name is `node-<n>`, its zone `zone-<n>`. */
  readonly node?: number;
  /** How often files of ConfigMaps and Secrets are brought up to date. */
  readonly refreshMs?: number;
};

/** One node of the cluster whose pods are processes of this machine. */
export type ProcessKubelet = {
  readonly node: string;
  pods(): readonly RunningPod[];
  /** What a pod has written; empty when it is not here. */
  logOf(namespace: string, name: string): string;
  /** Sends a signal to the processes of a pod, as a fault would. */
  signal(namespace: string, name: string, signal: NodeJS.Signals): void;
  /** Ends every process and stops looking after the node. */
  close(): Promise<void>;
};

const heartbeatMs = 10_000;
/** Addresses of a node: the last byte leaves out 0, 1, 254 and 255. */
const addressesPerByte = 252;
const bytesPerNode = 4;
const addressesPerNode = bytesPerNode * addressesPerByte;
const nodesPerSlot = 4;
const strategic = 'application/strategic-merge-patch+json';

/**
 * Joins the cluster as a node and runs each pod bound to it as local processes, with volumes, probes, restarts and deletion
 * as a kubelet has them (test/README.md#process-kubelet). A pod's status says 10.244.a.b, its processes listen on 127.244.a.b.
 */
export async function createProcessKubelet(options: ProcessKubeletOptions): Promise<ProcessKubelet> {
  const { client, node: number = 0, refreshMs = 1000 } = options;
  const node = `node-${number}`;
  const root = mkdtempSync(join(tmpdir(), 'tonplane-kubelet-'));
  const reaper = createReaper(root);
  const closing = new AbortController();
  const running = new Map<string, RunningPod>();
  const configs = new Map<string, ClusterObject>();
  const firstByte = (workerSlot * nodesPerSlot + number) * bytesPerNode;
  let next = 0;

  const store = {
    get: (kind: string, namespace: string, name: string) => configs.get(`${kind}/${namespace}/${name}`),
  };

  function follow(kind: string, path: string): void {
    const onChange = (type: string, object: ClusterObject): void => {
      const key = `${kind}/${object.metadata.namespace}/${object.metadata.name}`;
      if (type === 'DELETED') configs.delete(key);
      else configs.set(key, { ...object, kind });
    };
    client.follow(path, onChange, closing.signal);
  }

  /** The next address in turn, so that one that was freed is not used again soon. */
  function freeAddress(): string {
    const used = new Set([...running.values()].map(({ address }) => address));
    for (;;) {
      const index = next++ % addressesPerNode;
      const address = `10.244.${firstByte + Math.floor(index / addressesPerByte)}.${2 + (index % addressesPerByte)}`;
      if (!used.has(address)) return address;
    }
  }

  function onPod(type: string, pod: ClusterObject): void {
    const { uid = '', deletionTimestamp } = pod.metadata;
    const known = running.get(uid);
    if (type === 'DELETED') {
      known?.kill();
      running.delete(uid);
    } else if (deletionTimestamp !== undefined) {
      // A pod that another run of this node left behind has no process here, and ends at once.
      if (known !== undefined) void known.remove(pod).then(() => running.delete(uid));
      else void client.delete(pathOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } }).catch(() => undefined);
    } else if (known === undefined && !['Succeeded', 'Failed'].includes(pod['status'].phase)) {
      const folder = join(root, uid);
      running.set(uid, createPod(pod, { ...options, store, reaper, folder, address: freeAddress() }));
    }
  }

  const find = (namespace: string, name: string) =>
    [...running.values()].find((pod) => pod.namespace === namespace && pod.name === name);
  const beat = setInterval(() => void heartbeat(client, node).catch(() => undefined), heartbeatMs);
  const refresh = setInterval(() => {
    // What is missing now is noticed by the container that needs it.
    for (const pod of running.values()) void pod.refreshVolumes().catch(() => undefined);
  }, refreshMs);
  await register(client, node, number);
  follow('ConfigMap', '/api/v1/configmaps');
  follow('Secret', '/api/v1/secrets');
  client.follow(`/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`, onPod, closing.signal);
  return {
    node,
    pods: () => [...running.values()],
    logOf(namespace, name) {
      const pod = find(namespace, name);
      return pod === undefined ? '' : readFileSync(pod.logPath, 'utf8');
    },
    signal(namespace, name, signal) {
      for (const { pid } of find(namespace, name)?.containers ?? []) if (pid !== undefined) process.kill(-pid, signal);
    },
    async close() {
      closing.abort();
      clearInterval(beat);
      clearInterval(refresh);
      for (const pod of running.values()) pod.kill();
      reaper.close();
      await Promise.all([...running.values()].flatMap(({ containers }) => containers.map((each) => each.stop(0))));
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function pathOf({ metadata }: ClusterObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}

async function register(client: ClusterClient, node: string, number: number): Promise<void> {
  await client.apply(`/api/v1/nodes/${node}`, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node,
      labels: {
        'kubernetes.io/hostname': node,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${number}`,
      },
    },
  });
  await heartbeat(client, node);
}

/** Tells that the node is ready, renews its lease, and takes away the taints that a node without a network gets. */
async function heartbeat(client: ClusterClient, node: string): Promise<void> {
  const amounts = { cpu: '64', memory: '256Gi', pods: '500', 'ephemeral-storage': '100Gi' };
  const time = now();
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: time };
  const status = {
    capacity: amounts,
    allocatable: amounts,
    addresses: [{ type: 'InternalIP', address: '10.0.0.10' }],
    conditions: [ready],
  };
  await client.send('PATCH', `/api/v1/nodes/${node}/status`, { status }, strategic);
  await client.apply(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: node, namespace: 'kube-node-lease' },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace(/Z$/, '000Z') },
  });
  const taints: { key: string }[] = (await client.get(`/api/v1/nodes/${node}`))['spec'].taints ?? [];
  const kept = taints.filter(({ key }) => !key.startsWith('node.kubernetes.io/'));
  if (kept.length < taints.length) await client.merge(`/api/v1/nodes/${node}`, { spec: { taints: kept } });
}
