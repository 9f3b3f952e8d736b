import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ClusterError, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

import { tonApi, tonApiKey } from './cases.ts';

const kinds = [
  { plural: 'tonapis', made: tonApi() },
  { plural: 'tonapikeys', made: tonApiKey() },
];

describe.skipIf(await withoutControlPlane('versions of the custom resources'))(
  'a version of the custom resources',
  () => {
    let client: ClusterClient;
    let namespace: Awaited<ReturnType<typeof createNamespace>>;
    beforeAll(async () => {
      ({ client } = await joinControlPlane());
      namespace = await createNamespace(client, 'versions');
    });
    afterAll(async () => {
      await namespace?.delete();
      await client?.close();
    });

    const pathOf = (version: string, plural: string): string =>
      `/apis/tonplane.dev/${version}/namespaces/${namespace.name}/${plural}`;

    it.each(kinds)('v1beta1 of $plural is what the operator reads as v1alpha1', async ({ plural, made }) => {
      const created = await client.create(pathOf('v1beta1', plural), { ...made, apiVersion: 'tonplane.dev/v1beta1' });
      const read = await client.get(`${pathOf('v1alpha1', plural)}/${created.metadata.name}`);
      expect(read['apiVersion']).toBe('tonplane.dev/v1alpha1');
      expect(read['spec']).toEqual(created['spec']);
      expect(read.metadata.uid).toBe(created.metadata.uid);
    });

    it('v1beta1 has the same rules', async () => {
      const broken = tonApi((spec) => void (spec['anonymousPlan'] = 'gold'));
      const refusal = await client
        .create(pathOf('v1beta1', 'tonapis'), { ...broken, apiVersion: 'tonplane.dev/v1beta1' })
        .catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(ClusterError);
      expect((refusal as ClusterError).message).toContain('anonymousPlan must name a plan');
    });

    it('v1beta1 takes an apply of a user beside the status that the operator writes as v1alpha1', async () => {
      const name = 'both';
      const given = tonApi((_spec, object) => void (object['metadata'] = { name }));
      await client.apply(
        `${pathOf('v1beta1', 'tonapis')}/${name}`,
        { ...given, apiVersion: 'tonplane.dev/v1beta1' },
        'user',
      );
      await client.merge(`${pathOf('v1alpha1', 'tonapis')}/${name}/status`, { status: { version: '1' } });
      const next = tonApi((spec, object) => {
        spec['replicas'] = 7;
        object['metadata'] = { name };
      });
      await client.apply(
        `${pathOf('v1beta1', 'tonapis')}/${name}`,
        { ...next, apiVersion: 'tonplane.dev/v1beta1' },
        'user',
      );
      const read = await client.get(`${pathOf('v1alpha1', 'tonapis')}/${name}`);
      expect(read).toMatchObject({ spec: { replicas: 7 }, status: { version: '1' } });
    });
  },
);
