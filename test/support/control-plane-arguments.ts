import { join } from 'node:path';

import type { ControlPlaneFiles } from './control-plane-files.ts';
import type { ControlPlaneSource } from './control-plane-source.ts';
import { workerSlot } from './worker-slot.ts';

type EtcdFlags = Extract<ControlPlaneSource, { kind: 'programs' }>['etcdFlags'];

export function etcdArguments(flags: EtcdFlags, folder: string, client: string, peer: string): string[] {
  const data = join(folder, 'etcd');
  if (flags === 'ours') return [`--data-dir=${data}`, `--client-url=${client}`, `--peer-url=${peer}`];
  return [
    `--data-dir=${data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export function apiServerArguments(files: ControlPlaneFiles, etcdUrl: string, port: number): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${files.servingCertificate}`,
    `--tls-private-key-file=${files.servingKey}`,
    // The address of a single server on loopback is no endpoint that could be published.
    '--endpoint-reconciler-type=none',
    `--service-cluster-ip-range=10.96.${16 * workerSlot}.0/20`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--token-auth-file=${files.tokens}`,
    `--client-ca-file=${files.authorityPath}`,
    '--authorization-mode=RBAC',
    '--anonymous-auth=true',
    // Aggregation, for metrics.k8s.io.
    `--requestheader-client-ca-file=${files.frontProxyAuthority}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${files.frontProxyCertificate}`,
    `--proxy-client-key-file=${files.frontProxyKey}`,
  ];
}

export function controllerManagerArguments(files: ControlPlaneFiles): string[] {
  return [
    `--kubeconfig=${files.kubeconfigPath}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.authorityPath}`,
    '--leader-elect=false',
    '--secure-port=0',
    // An autoscaler that a test can wait for.
    '--horizontal-pod-autoscaler-sync-period=2s',
    '--horizontal-pod-autoscaler-downscale-stabilization=5s',
    '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
    '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
    '--controllers=*,-node-ipam-controller,-node-route-controller,-cloud-node-lifecycle-controller,-service-lb-controller',
  ];
}
