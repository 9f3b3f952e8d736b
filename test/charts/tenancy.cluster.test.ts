import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** The sample as charts/docs/tenancy.md applies it. */
const roles = parseAllDocuments(
  readFileSync(join(chartsFolder, 'tonplane/integrations/tenant-roles.yaml'), 'utf8'),
).map((document) => document.toJS() as { readonly metadata: { readonly name: string } });

/** Role, whether it writes TonApis, whether it writes keys. */
const rights: readonly [string, boolean, boolean][] = [
  ['tonplane-author', true, true],
  ['tonplane-key-issuer', false, true],
  ['tonplane-viewer', false, false],
];

describe.skipIf(await withoutControlPlane('the sample of roles for teams'))('the sample of roles for teams', () => {
  let client: ClusterClient;
  let own: Awaited<ReturnType<typeof createNamespace>>;
  let other: Awaited<ReturnType<typeof createNamespace>>;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    own = await createNamespace(client, 'tenant');
    other = await createNamespace(client, 'tenant-other');
    for (const role of roles) {
      await client.create(`${rbac}/clusterroles`, role);
      const { name } = role.metadata;
      await client.create(`${rbac}/namespaces/${own.name}/rolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: `${own.name}-${name}` }],
      });
    }
  });
  afterAll(async () => {
    for (const { metadata } of roles) await client?.delete(`${rbac}/clusterroles/${metadata.name}`);
    await own?.delete();
    await other?.delete();
    await client?.close();
  });

  /** True if a member of the role's group may do it. */
  async function may(role: string, verb: string, resource: string, namespace = own.name): Promise<boolean> {
    const group = resource.startsWith('tonapi') ? 'tonplane.dev' : '';
    const review = await client.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'jane',
        groups: [`${own.name}-${role}`],
        resourceAttributes: { namespace, verb, group, resource },
      },
    });
    return review['status'].allowed as boolean;
  }

  it.each(rights)('%s writes TonApis: %s, keys: %s, and sees both', async (role, tonApis, keys) => {
    // The API server takes up a new binding within a moment.
    await expect.poll(() => may(role, 'list', 'tonapikeys')).toBe(true);
    expect(await may(role, 'list', 'tonapis')).toBe(true);
    for (const verb of ['create', 'update', 'patch', 'delete']) {
      expect(await may(role, verb, 'tonapis')).toBe(tonApis);
      expect(await may(role, verb, 'tonapikeys')).toBe(keys);
    }
  });

  it.each(rights)('%s reads no Secret, and nothing in another namespace', async (role) => {
    await expect.poll(() => may(role, 'list', 'tonapikeys')).toBe(true);
    expect(await may(role, 'get', 'secrets')).toBe(false);
    expect(await may(role, 'list', 'tonapikeys', other.name)).toBe(false);
  });
});
