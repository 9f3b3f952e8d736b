import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { tonApi, type Change } from '#test/crds/cases.ts';
import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const paths: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: `${group}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${group}/validatingadmissionpolicybindings`,
};

type PolicyObject = { readonly kind: string; readonly metadata: { readonly name: string } };

/** The sample as the page applies it. */
const policies = parseAllDocuments(
  readFileSync(join(chartsFolder, 'tonplane/integrations/admission-policy.yaml'), 'utf8'),
).map((document) => document.toJS() as PolicyObject);

const spec =
  (fields: Readonly<Record<string, unknown>>): Change =>
  (target) =>
    void Object.assign(target, fields);

const volumes = (volume: object): Change =>
  spec({ podTemplate: { spec: { volumes: [{ name: 'extra', ...volume }] } } });

const forbidden: readonly [string, Change][] = [
  ['podTemplate.serviceAccountName may not be set here', spec({ podTemplate: { serviceAccountName: 'admin' } })],
  ['podTemplate.spec.volumes may not have a hostPath here', volumes({ hostPath: { path: '/etc' } })],
  [
    'podTemplate.spec.volumes may not have a token of a service account here',
    volumes({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }),
  ],
  [
    'podTemplate.spec may not add containers here',
    spec({ podTemplate: { spec: { containers: [{ name: 'sidecar', image: 'x' }] } } }),
  ],
  [
    'podTemplate.spec may not add containers here',
    spec({ podTemplate: { spec: { initContainers: [{ name: 'first', image: 'x' }] } } }),
  ],
  [
    'image.repository may only be below registry.example.com/tonplane/ here',
    spec({ image: { repository: 'elsewhere.example.com/service' } }),
  ],
];

const allowed: readonly [string, Change][] = [
  ['no pod template', spec({})],
  ['variables of our container', spec({ podTemplate: { spec: { containers: [{ name: 'api', env: [] }] } } })],
  ['a volume of a Secret', volumes({ secret: { secretName: 'proxy-ca' } })],
  ['the registry of the policy', spec({ image: { repository: 'registry.example.com/tonplane/service' } })],
];

describe.skipIf(await withoutControlPlane('the sample of an admission policy'))(
  'the sample of an admission policy',
  () => {
    let client: ClusterClient;
    let restricted: Awaited<ReturnType<typeof createNamespace>>;
    let free: Awaited<ReturnType<typeof createNamespace>>;
    const write = (namespace: string, change: Change) =>
      client.create(`/apis/tonplane.dev/v1alpha1/namespaces/${namespace}/tonapis?dryRun=All`, tonApi(change));
    const refusalOf = async (namespace: string, change: Change): Promise<unknown> =>
      write(namespace, change).then(
        () => undefined,
        (error: unknown) => error,
      );

    beforeAll(async () => {
      ({ client } = await joinControlPlane());
      restricted = await createNamespace(client, 'admission');
      free = await createNamespace(client, 'admission-free');
      const label = { metadata: { labels: { 'tonplane.dev/author-rights': 'restricted' } } };
      await client.merge(`/api/v1/namespaces/${restricted.name}`, label);
      for (const policy of policies) await client.create(paths[policy.kind] ?? '', policy);
    });
    afterAll(async () => {
      for (const { kind, metadata } of policies) await client?.delete(`${paths[kind]}/${metadata.name}`);
      await restricted?.delete();
      await free?.delete();
      await client?.close();
    });

    it.each(forbidden)('refuses with the words: %s', async (message, change) => {
      // The API server takes up a new policy within a moment.
      await expect.poll(async () => String(await refusalOf(restricted.name, change))).toContain(message);
    });

    it.each(allowed)('allows %s', async (_case, change) => {
      await expect(write(restricted.name, change)).resolves.toBeDefined();
    });

    it('concerns only namespaces with its label', async () => {
      for (const [, change] of forbidden) await expect(write(free.name, change)).resolves.toBeDefined();
    });
  },
);
