import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stringify } from 'yaml';

import { ClusterError, type ClusterClient, type ClusterObject } from './cluster-client.ts';
import { onLoopback, podNetworkVariables } from './pod-network.ts';
import { createContainer, type Command, type Container, type ContainerSpec } from './process-kubelet-container.ts';
import { createPodStatus } from './process-kubelet-status.ts';
import { createPodVolumes, environmentValue, type ConfigStore } from './process-kubelet-volumes.ts';
import type { Reaper } from './reaper.ts';

/** What stands for an image: what runs instead of its entrypoint. */
export type ImageProgram = {
  readonly image: RegExp;
  readonly entrypoint: readonly string[];
  /** The image's own arguments, where the container gives none. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** For programs other than Node, which a pod's network does not reach into: what makes them listen on an address alone. */
  readonly listenArgs?: (address: string) => readonly string[];
};

export type PodContext = {
  readonly client: ClusterClient;
  readonly store: ConfigStore;
  readonly reaper: Reaper;
  readonly images: readonly ImageProgram[];
  /** Folder of this pod's files. */
  readonly folder: string;
  /** `10.244.a.b`. */
  readonly address: string;
  readonly namesFile: string;
  /** What a kubeconfig of the pod says, before its token. */
  readonly authority: string;
};

/** A pod that runs here. */
export type RunningPod = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly address: string;
  readonly containers: readonly Container[];
  readonly logPath: string;
  refreshVolumes(): Promise<void>;
  /** Ends it as its deletion asks and takes it from the API. */
  remove(pod: ClusterObject): Promise<void>;
  /** Ends it at once and tells nobody. */
  kill(): void;
};

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The API server may be away for a while: that is what some tests are about. */
const statusRetryMs = 300;
const podNetwork = resolve(import.meta.dirname, 'pod-network.ts');
/** Compiled sources that processes of a run share. */
const compileCache = process.env['NODE_COMPILE_CACHE'];

/** Starts the processes of a pod and keeps its status. */
export function createPod(pod: ClusterObject, context: PodContext): RunningPod {
  const { client, folder, address } = context;
  const { namespace = '', name, uid = '' } = pod.metadata;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const volumes = createPodVolumes(pod, folder, client, context.store);
  const logPath = join(folder, 'log');
  let [dirty, posting, gone, killed] = [false, false, false, false];
  let removal: Promise<void> | undefined;
  mkdirSync(folder, { recursive: true });

  const containers = (pod['spec'].containers as ContainerSpec[]).map((spec) =>
    createContainer({
      spec,
      restartPolicy: pod['spec'].restartPolicy as string,
      host: onLoopback(address),
      reaper: context.reaper,
      command: () => commandOf(spec),
      changed: () => void post(),
    }),
  );

  const status = createPodStatus(address, containers);

  async function commandOf(spec: ContainerSpec): Promise<Command> {
    await volumes.refresh();
    const program = context.images.find(({ image }) => image.test(spec.image));
    if (program === undefined && spec.command === undefined) throw imageError(spec.image);
    const local = localPaths(spec, volumes.folderOf);
    // What the image brings are paths of this machine already, be the project itself below a folder that pods mount.
    const [first = '', ...words] = [
      ...(spec.command?.map(local) ?? program?.entrypoint ?? []),
      ...(spec.args?.map(local) ?? (spec.command === undefined ? (program?.args ?? []) : [])),
    ];
    const environment = Object.fromEntries(
      (spec.env ?? []).flatMap((entry) => {
        const value = environmentValue(entry, { ...pod, status: { podIP: address } }, context.store);
        return value === undefined ? [] : [[entry.name, local(value)]];
      }),
    );
    return {
      program: first === 'node' ? process.execPath : first,
      args: [...words, ...(program?.listenArgs?.(onLoopback(address)) ?? [])],
      environment: nodeOptionsJoined(base(spec), { ...program?.environment, ...environment }),
      folder,
      log: logPath,
    };
  }

  function base(spec: ContainerSpec): Record<string, string> {
    const server = new URL(client.server);
    const token = spec.volumeMounts?.find(({ mountPath }) => mountPath === tokenPath);
    return {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      NODE_OPTIONS: `--import=${podNetwork}`,
      ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
      [podNetworkVariables.address]: onLoopback(address),
      [podNetworkVariables.namespace]: namespace,
      [podNetworkVariables.names]: context.namesFile,
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      ...(token && { KUBECONFIG: writeKubeconfig(volumes.folderOf(token.name)) }),
    };
  }

  /** A process has no place of its own for the token's path, so it is told where the token is. */
  function writeKubeconfig(tokenFolder: string): string {
    const tokenFile = join(tokenFolder, 'token');
    const file = join(folder, 'kubeconfig');
    const user = { tokenFile, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
    const cluster = { server: client.server, 'certificate-authority': join(tokenFolder, 'ca.crt') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'pod',
      clusters: [{ name: 'cluster', cluster }],
      users: [{ name: 'pod', user }],
      contexts: [{ name: 'pod', context: { cluster: 'cluster', user: 'pod', namespace } }],
    };
    writeFileSync(file, stringify(config));
    return file;
  }

  const isOver = (): boolean => gone || killed;

  /** Writes the newest status, one write at a time, until the API server has taken it or the pod is gone. */
  async function post(): Promise<void> {
    dirty = true;
    if (posting) return;
    posting = true;
    while (dirty && !isOver()) {
      dirty = false;
      try {
        await client.send(
          'PATCH',
          `${path}/status`,
          { metadata: { uid }, status: status() },
          'application/strategic-merge-patch+json',
        );
      } catch (error) {
        if (error instanceof ClusterError && [404, 409, 422].includes(error.status)) gone = true;
        else {
          dirty = true;
          await sleep(statusRetryMs);
        }
      }
    }
    posting = false;
  }

  async function end(latest: ClusterObject): Promise<void> {
    const graceMs = (latest.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    await Promise.all(containers.map((container) => container.stop(graceMs)));
    while (!isOver()) {
      try {
        await client.delete(path, { gracePeriodSeconds: 0, preconditions: { uid } });
        break;
      } catch (error) {
        if (error instanceof ClusterError && error.status === 409) break;
        await sleep(statusRetryMs);
      }
    }
    gone = true;
  }

  for (const container of containers) container.start();
  return {
    namespace,
    name,
    uid,
    address,
    containers,
    logPath,
    refreshVolumes: () => volumes.refresh(),
    remove: (latest) => (removal ??= end(latest)),
    kill() {
      killed = true;
      for (const container of containers) void container.stop(0);
    },
  };
}

function imageError(image: string): Error {
  return Object.assign(new Error(`Back-off pulling image "${image}"`), { reason: 'ImagePullBackOff' });
}

/** Turns paths below the container's mounts into paths of the volumes' folders, the deepest mount first. */
function localPaths(spec: ContainerSpec, folderOf: (volume: string) => string): (text: string) => string {
  const mounts = (spec.volumeMounts ?? []).toSorted((a, b) => b.mountPath.length - a.mountPath.length);
  return (text) => {
    for (const { name, mountPath, subPath } of mounts) {
      const path = mountPath.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
      const target = join(folderOf(name), subPath ?? '');
      const changed = text.replaceAll(new RegExp(`(?<![\\w./-])${path}(?=/|$|[^\\w.-])`, 'g'), target);
      if (changed !== text) return changed;
    }
    return text;
  };
}

/** A container's options of Node stand beside ours, which its network needs. */
function nodeOptionsJoined(
  ours: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const options = [ours['NODE_OPTIONS'], given['NODE_OPTIONS']].filter((one) => one !== undefined);
  return { ...ours, ...given, NODE_OPTIONS: options.join(' ') };
}
