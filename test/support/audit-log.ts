import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringify } from 'yaml';

/** One request that the API server answered. */
export type AuditedRequest = {
  readonly user: string;
  readonly verb: string;
  /** `apps/deployments`, `/configmaps` for the core group, `tonplane.dev/tonapis/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
};

type Line = {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
};

/** The API server's audit log: flags that make it, in a folder of the test's own, and what it says so far. */
export function createAuditLog(folder: string): {
  readonly apiServerFlags: readonly string[];
  requests(user: string): readonly AuditedRequest[];
} {
  const [policy, log] = [join(folder, 'audit-policy.yaml'), join(folder, 'audit.log')];
  const rules = [
    { level: 'Metadata', userGroups: ['system:serviceaccounts'], omitStages: ['RequestReceived'] },
    { level: 'None' },
  ];
  writeFileSync(policy, stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return {
    apiServerFlags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    requests: (user) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => line.user.username === user)
        .map(requestOf),
  };
}

function requestOf({ verb, user, objectRef, responseStatus }: Line): AuditedRequest {
  const { apiGroup = '', resource = '', subresource, namespace = '', name = '' } = objectRef ?? {};
  return {
    user: user.username,
    verb,
    resource: `${apiGroup}/${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    namespace,
    name,
    status: responseStatus?.code ?? 0,
  };
}
