import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from './free-port.ts';

import type { Certificate } from './certificate.ts';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './control-plane-arguments.ts';
import { createComponents } from './control-plane-components.ts';
import { adminToken, writeFiles, type Kubeconfig } from './control-plane-files.ts';
import { readGivenCluster } from './control-plane-given.ts';
import { findControlPlane, type ControlPlaneSource } from './control-plane-source.ts';

export type ControlPlaneOptions = {
  /** Also the controller manager and the scheduler; without them it starts sooner and takes a third of the memory. Default true. */
  readonly controllers?: boolean;
  /** Further flags of the API server, as `--watch-cache=false`; they win over ours. */
  readonly apiServerFlags?: readonly string[];
  /** Further flags of the controller manager. */
  readonly controllerManagerFlags?: readonly string[];
};

/** A running Kubernetes control plane on loopback. */
export type ControlPlane = {
  /** URL of the API server. */
  readonly server: string;
  /** Bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  /** PEM of what signed the API server's certificate. */
  readonly authority: string;
  readonly kubeconfig: Kubeconfig;
  /** The same, in a file that lives as long as the control plane. */
  readonly kubeconfigPath: string;
  /** A certificate that the API server takes for a user (`commonName`) of a group (`organization`). */
  issueClientCertificate(subject: { readonly commonName: string; readonly organization: string }): Certificate;
  /** `kill -9`; resolves when the process is gone. */
  killApiServer(): Promise<void>;
  /** Starts a killed API server on the same port and the same etcd; resolves when it is ready. */
  startApiServer(): Promise<void>;
  /** Kills and starts it. */
  restartApiServer(): Promise<void>;
  /** `kill -STOP`: connections stay open and nothing answers. Returns what lets it go on. */
  freezeApiServer(): () => void;
  /** Ends all its processes and deletes its data. */
  stop(): Promise<void>;
};

/** A free port may be taken by another before a component listens on it. */
const startAttempts = 3;

/**
 * Starts etcd, the API server, the controller manager and the scheduler, on free ports of loopback with data of their
 * own; with `KUBECONFIG` it is that cluster, whose processes are not ours. They end with `stop`, and with the process
 * that started them, however that ends.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const source = await findControlPlane({ build: true });
  if (source === undefined) throw new Error('no control plane here: ask withoutControlPlane() first');
  if (source.kind === 'kubeconfig') return givenControlPlane(source.path);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startPrograms(source, options);
    } catch (error) {
      if (attempt === startAttempts) throw error;
    }
  }
}

type Programs = Extract<ControlPlaneSource, { kind: 'programs' }>;

async function startPrograms(source: Programs, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { controllers = true, apiServerFlags = [], controllerManagerFlags = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-control-plane-'));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const server = `https://127.0.0.1:${port}`;
  const files = writeFiles(folder, server);
  const components = createComponents(folder);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const startApiServer = async (): Promise<void> => {
    components.start('kube-apiserver', source.apiServer, [
      ...apiServerArguments(files, etcdUrl, port),
      ...apiServerFlags,
    ]);
    await components.until('kube-apiserver', () => isReady(server, files.authority.certificate));
  };
  const stop = async (): Promise<void> => {
    for (const name of ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'])
      await components.kill(name);
    components.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    components.start(
      'etcd',
      source.etcd,
      etcdArguments(source.etcdFlags, folder, etcdUrl, `http://127.0.0.1:${peerPort}`),
    );
    await startApiServer();
    if (controllers) {
      const { controllerManager, scheduler } = source;
      if (controllerManager === undefined || scheduler === undefined) throw new Error('no controller manager here');
      const manager = [...controllerManagerArguments(files), ...controllerManagerFlags];
      components.start('kube-controller-manager', controllerManager, manager);
      components.start('kube-scheduler', scheduler, [
        `--kubeconfig=${files.kubeconfigPath}`,
        '--leader-elect=false',
        '--secure-port=0',
      ]);
      await components.until('kube-controller-manager', () => hasServiceAccount(server, files.authority.certificate));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    server,
    adminToken,
    authority: files.authority.certificate,
    kubeconfig: files.kubeconfig,
    kubeconfigPath: files.kubeconfigPath,
    issueClientCertificate: (subject) => files.authority.issue(subject),
    killApiServer: () => components.kill('kube-apiserver'),
    startApiServer,
    async restartApiServer() {
      await components.kill('kube-apiserver');
      await startApiServer();
    },
    freezeApiServer() {
      components.freeze('kube-apiserver');
      return () => components.thaw('kube-apiserver');
    },
    stop,
  };
}

async function isReady(server: string, authority: string): Promise<boolean> {
  return (await statusOf(`${server}/readyz`, authority)) === 200;
}

/** The controller manager works once it has made a namespace's default service account. */
async function hasServiceAccount(server: string, authority: string): Promise<boolean> {
  return (await statusOf(`${server}/api/v1/namespaces/default/serviceaccounts/default`, authority)) === 200;
}

function statusOf(url: string, ca: string): Promise<number | undefined> {
  return new Promise((done) => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const sent = request(url, { ca, headers, timeout: 5000, agent: false }, (response) => {
      response.resume();
      done(response.statusCode);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => done(undefined));
    sent.end();
  });
}

/** The cluster of a kubeconfig: its processes are not ours to kill. */
async function givenControlPlane(path: string): Promise<ControlPlane> {
  const notOurs = (): never => {
    throw new Error(`the control plane of ${path} is not ours: ask withoutControlPlane(what, 'ours') first`);
  };
  return {
    ...(await readGivenCluster(path)),
    kubeconfigPath: path,
    issueClientCertificate: notOurs,
    killApiServer: notOurs,
    startApiServer: notOurs,
    restartApiServer: notOurs,
    freezeApiServer: notOurs,
    stop: () => Promise.resolve(),
  };
}
