import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { createAuthority, createKeyPair } from './certificate.ts';

/** A kubeconfig as far as tests look into it. */
export type Kubeconfig = {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly 'current-context': string;
  readonly clusters: readonly {
    readonly name: string;
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data'?: string };
  }[];
  readonly users: readonly {
    readonly name: string;
    readonly user: {
      readonly token?: string;
      readonly 'client-certificate-data'?: string;
      readonly 'client-key-data'?: string;
    };
  }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
};

/** The administrator's token on a control plane of ours. */
export const adminToken = 'admintoken';

/** Where the files are that the components read. */
export type ControlPlaneFiles = ReturnType<typeof writeFiles>;

/** Certificates, tokens and the kubeconfig of the administrator. */
export function writeFiles(folder: string, server: string) {
  const authority = createAuthority('tonplane test');
  const frontProxyAuthority = createAuthority('tonplane test front proxy');
  const serving = authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1', 'localhost', 'kubernetes.default.svc'],
  });
  const frontProxy = frontProxyAuthority.issue({ commonName: 'front-proxy-client' });
  const serviceAccounts = createKeyPair();
  const kubeconfig = kubeconfigFor(server, authority.certificate, adminToken);
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return {
    authority,
    kubeconfig,
    kubeconfigPath: write('kubeconfig', stringify(kubeconfig)),
    authorityPath: write('ca.crt', authority.certificate),
    servingCertificate: write('serving.crt', serving.certificate),
    servingKey: write('serving.key', serving.key),
    frontProxyAuthority: write('front-proxy-ca.crt', frontProxyAuthority.certificate),
    frontProxyCertificate: write('front-proxy.crt', frontProxy.certificate),
    frontProxyKey: write('front-proxy.key', frontProxy.key),
    serviceAccountPublicKey: write('service-accounts.pub', serviceAccounts.publicKey),
    serviceAccountKey: write('service-accounts.key', serviceAccounts.privateKey),
    tokens: write('tokens.csv', `${adminToken},admin,admin,"system:masters"\n`),
  };
}

/** A kubeconfig with one cluster and one user, as for a ServiceAccount's token. */
export function kubeconfigFor(server: string, authority: string, token: string): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [
      { name: 'test', cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
}
