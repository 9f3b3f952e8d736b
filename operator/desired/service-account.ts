import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { childNames } from './names.ts';
import type { DesiredObject, Release } from './references.ts';

/** The pods' own account: without a token and without any right. None is made when the manifest names one. */
export function buildServiceAccount(tonApi: TonApi, release: Release): DesiredObject | undefined {
  if (tonApi.spec.podTemplate?.serviceAccountName !== undefined) return undefined;
  return child(tonApi, release.version, {
    stage: 'config',
    component: 'api',
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    name: childNames(tonApi).serviceAccount,
    body: { automountServiceAccountToken: false },
  });
}
