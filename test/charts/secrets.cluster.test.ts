import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterClient, ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { optionalDefinition, withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

/** The sample as charts/docs/secrets.md applies it. */
const sample = parseAllDocuments(
  readFileSync(join(chartsFolder, 'tonplane/integrations/external-secrets.yaml'), 'utf8'),
).map((document) => document.toJS() as ClusterObject);

const subject = 'the sample for external-secrets';
const missing = withoutOptionalApis(subject, ['ExternalSecret']) || (await withoutControlPlane(subject));

describe.skipIf(missing)('the sample for external-secrets', () => {
  let client: ClusterClient;
  let namespace: Awaited<ReturnType<typeof createNamespace>>;
  let collection: string;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    const definition = optionalDefinition('ExternalSecret');
    await client.apply(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`,
      definition,
    );
    namespace = await createNamespace(client, 'secrets');
    collection = `/apis/external-secrets.io/v1/namespaces/${namespace.name}/externalsecrets`;
  });
  afterAll(async () => {
    await namespace?.delete();
    await client?.close();
  });

  it.each(sample.map((secret) => [secret.metadata.name, secret] as const))(
    'is taken by the definition of external-secrets, with no unknown field: %s',
    async (_name, secret) => {
      const isServed = (): Promise<boolean> =>
        client.list(collection).then(
          () => true,
          () => false,
        );
      await expect.poll(isServed).toBe(true);
      const stored = (await client.create(`${collection}?fieldValidation=Strict`, secret)) as ClusterObject & {
        readonly spec: { readonly target: { readonly name: string } };
      };
      expect(stored.spec.target.name).toBe(secret.metadata.name);
    },
  );
});
