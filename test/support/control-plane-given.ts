import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { createClusterClient, type ClusterClient } from './cluster-client.ts';
import type { Kubeconfig } from './control-plane-files.ts';

/** A cluster that was there before the tests. */
export type GivenCluster = {
  readonly server: string;
  readonly authority: string;
  /** Of the kubeconfig's user; of an account made for the tests where that user has a client certificate instead. */
  readonly adminToken: string;
  readonly kubeconfig: Kubeconfig;
};

const account = { name: 'tonplane-tests', namespace: 'kube-system' };
const tokenSeconds = 6 * 3600;

/** Reads the current context of a kubeconfig. @throws Error for credentials other than a token or a certificate in the file */
export async function readGivenCluster(path: string): Promise<GivenCluster> {
  const kubeconfig = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const { context } = kubeconfig.contexts.find(({ name }) => name === kubeconfig['current-context']) ?? {};
  const cluster = kubeconfig.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = kubeconfig.users.find(({ name }) => name === context?.user)?.user;
  const authority = decoded(cluster?.['certificate-authority-data']);
  if (cluster === undefined || user === undefined || authority === undefined) {
    throw new Error(`${path}: expected a cluster with certificate-authority-data, and a user`);
  }
  const { server } = cluster;
  if (user.token !== undefined) return { server, authority, adminToken: user.token, kubeconfig };
  const [certificate, key] = [decoded(user['client-certificate-data']), decoded(user['client-key-data'])];
  if (certificate === undefined || key === undefined) {
    throw new Error(`${path}: expected a user with a token or a client certificate`);
  }
  const client = createClusterClient({ server, authority, certificate: { certificate, key } });
  try {
    return { server, authority, adminToken: await tokenOf(client), kubeconfig };
  } finally {
    await client.close();
  }
}

/** Makes an administrator's account for the tests, or finds it, and asks for a token of it. */
async function tokenOf(client: ClusterClient): Promise<string> {
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}`;
  await client.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  await client.apply(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${account.name}`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  const spec = { expirationSeconds: tokenSeconds };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  return (await client.create(`${path}/token`, request))['status'].token as string;
}

function decoded(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString();
}
