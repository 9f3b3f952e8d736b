import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { fieldsOf, pathsOf, sample, schemaOf } from '#test/service/crds/definitions.ts';
import type { ClusterClient, ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { definitions } from '#test/support/crds.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

import { tonApi, tonApiKey } from './cases.ts';

const group = '/apis/tonplane.dev/v1alpha1';
const plurals: Readonly<Record<string, string>> = { TonApi: 'tonapis', TonApiKey: 'tonapikeys' };

describe.skipIf(await withoutControlPlane('the custom resources'))('the custom resources on a real API server', () => {
  let client: ClusterClient;
  let namespace: Awaited<ReturnType<typeof createNamespace>>;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    namespace = await createNamespace(client, 'crds');
  });
  afterAll(async () => {
    await namespace?.delete();
    await client?.close();
  });

  const own = (): string => `${group}/namespaces/${namespace.name}`;

  it.each(definitions.map((definition) => definition.metadata.name))(
    'have a definition that is sound: %s',
    async (name) => {
      const { status } = await client.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
      const conditions = (status.conditions as { type: string; status: string }[]).map(
        ({ type, status: value }) => `${type}=${value}`,
      );
      // A rule whose cost cannot be bounded would have refused the definition; NonStructuralSchema would stand here.
      expect(conditions.toSorted()).toEqual(['Established=True', 'NamesAccepted=True']);
    },
  );

  it.each(['smallest', 'typical', 'full'])('take every document of the %s sample', async (name) => {
    for (const document of sample(name).documents) {
      const plural = plurals[document['kind'] as string];
      if (plural === undefined) continue;
      await expect(
        client.create(`${own()}/${plural}?dryRun=All&fieldValidation=Strict`, document),
      ).resolves.toBeDefined();
    }
  });

  it('show every default of a field whose object is given', async () => {
    const created = await client.create(`${own()}/tonapis?dryRun=All`, tonApi());
    const schema = schemaOf('tonapis').properties?.['spec'];
    const present = new Set(pathsOf({ spec: created['spec'] }));
    const expected = fieldsOf(schema ?? {}, 'spec')
      .filter(({ schema: field }) => 'default' in field)
      .map(({ path }) => path)
      .filter((path) => present.has(path.slice(0, path.lastIndexOf('.'))));
    expect(expected.length).toBeGreaterThan(8);
    expect(expected.filter((path) => !present.has(path))).toEqual([]);
    expect(created['spec']).toMatchObject({ replicas: 2, surfaces: ['v2'], trust: 'verified', networkPolicy: true });
  });

  it('refuse an unknown field under strict validation', async () => {
    const withTypo = tonApi((spec) => void (spec['replica'] = 3));
    await expect(client.create(`${own()}/tonapis?dryRun=All&fieldValidation=Strict`, withTypo)).rejects.toThrow(
      'unknown field "spec.replica"',
    );
  });

  const explained = async (kind: string): Promise<Explained | undefined> => {
    const schemas = (await client.find(`/openapi/v3${group}`))?.['components'].schemas as Record<string, Explained>;
    return Object.entries(schemas ?? {}).find(([name]) => name.endsWith(`.${kind}`))?.[1];
  };

  it('explain every field, as kubectl explain reads it', async () => {
    // The document follows the definitions by a moment.
    const kinds = ['TonApi', 'TonApiKey'];
    await expect
      .poll(async () => (await Promise.all(kinds.map(explained))).every((schema) => schema?.properties?.['spec']), {
        timeout: 30_000,
      })
      .toBe(true);
    const schemas = await Promise.all(kinds.map(explained));
    const silent = kinds.flatMap((kind, index) => {
      const schema = schemas[index];
      return silentFields(schema ?? {}, kind);
    });
    expect(silent).toEqual([]);
  });

  it('are listed by `kubectl get ton`, and by short names', async () => {
    const { resources } = await client.get(group);
    const named = (resources as ClusterObject[]).filter(({ name }) => !(name as string).includes('/'));
    expect(
      Object.fromEntries(named.map(({ name, shortNames, categories }) => [name, { shortNames, categories }])),
    ).toEqual({
      tonapis: { shortNames: ['tapi'], categories: ['ton'] },
      tonapikeys: { shortNames: ['tkey'], categories: ['ton'] },
    });
  });

  it.each([
    [
      'tonapis',
      ['Name', 'Network', 'Ready', 'Reason', 'Replicas', 'LiteServers', 'Indexer', 'Version', 'Age'],
      ['Paused', 'URL'],
    ],
    ['tonapikeys', ['Name', 'Api', 'Plan', 'Key', 'Ready', 'Reason', 'Expires', 'Age'], ['Rotates']],
  ])('print their columns: %s', async (plural, narrow, wide) => {
    const table = await client.send('GET', `${own()}/${plural}`, undefined, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const columns = table['columnDefinitions'] as { name: string; priority: number }[];
    const ofPriority = (wanted: number) =>
      columns.filter(({ priority }) => priority === wanted).map(({ name }) => name);
    expect(ofPriority(0)).toEqual(narrow);
    expect(ofPriority(1)).toEqual(wide);
  });

  it('print times to come as text', async () => {
    const expiresAt = '2199-12-31T00:00:00Z';
    const key = tonApiKey((spec, object) => {
      object['metadata'] = { name: 'ends' };
      spec['expiresAt'] = expiresAt;
    });
    await client.create(`${own()}/tonapikeys`, key);
    await client.merge(`${own()}/tonapikeys/ends/status`, { status: { nextRotationTime: expiresAt } });
    const table = await client.send('GET', `${own()}/tonapikeys/ends`, undefined, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const names = (table['columnDefinitions'] as { name: string }[]).map(({ name }) => name);
    const cells = table['rows'][0].cells as unknown[];
    await client.delete(`${own()}/tonapikeys/ends`);
    expect([cells[names.indexOf('Expires')], cells[names.indexOf('Rotates')]]).toEqual([expiresAt, expiresAt]);
  });

  it('are selected by network, by API and by plan', async () => {
    await client.create(
      `${own()}/tonapis`,
      tonApi((_, object) => void (object['metadata'] = { name: 'selected' })),
    );
    await client.create(
      `${own()}/tonapikeys`,
      tonApiKey((_, object) => void (object['metadata'] = { name: 'selected' })),
    );
    const found = async (plural: string, selector: string) =>
      (await client.list(`${own()}/${plural}?fieldSelector=${encodeURIComponent(selector)}`)).map(
        ({ metadata }) => metadata.name,
      );
    expect(await found('tonapis', 'spec.network=testnet')).toEqual(['selected']);
    expect(await found('tonapis', 'spec.network=mainnet')).toEqual([]);
    expect(await found('tonapikeys', 'spec.apiRef.name=test')).toEqual(['selected']);
    expect(await found('tonapikeys', 'spec.plan=free')).toEqual(['selected']);
    expect(await found('tonapikeys', 'spec.plan=pro')).toEqual([]);
  });

  it('are scaled as a Deployment is', async () => {
    const path = `${own()}/tonapis/scaled`;
    await client.create(
      `${own()}/tonapis`,
      tonApi((_, object) => void (object['metadata'] = { name: 'scaled' })),
    );
    expect((await client.get(`${path}/scale`))['spec']).toEqual({ replicas: 2 });
    await client.merge(`${path}/scale`, { spec: { replicas: 5 } });
    expect((await client.get(path))['spec'].replicas).toBe(5);
  });

  it('keep the status apart: a write to the object does not change it, a write to the status nothing else', async () => {
    const path = `${own()}/tonapis/stated`;
    const object = tonApi((_, each) => void (each['metadata'] = { name: 'stated' }));
    const created = await client.create(`${own()}/tonapis`, { ...object, status: { version: '1' } });
    expect(created['status']).toBeUndefined();
    const stated = await client.merge(`${path}/status`, {
      spec: { replicas: 9 },
      status: { version: '1', indexer: 'Off' },
    });
    expect(stated['status']).toEqual({ version: '1', indexer: 'Off' });
    expect(stated['spec'].replicas).toBe(2);
    expect(stated.metadata.generation).toBe(1);
  });
});

type Explained = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Explained>>;
  readonly items?: Explained;
};

/** Paths without a description; those of metadata are the API server's. */
function silentFields(schema: Explained, path: string): string[] {
  if (path.endsWith('.metadata')) return [];
  return [
    ...((schema.description ?? '').length < 5 && schema.items === undefined && !path.endsWith('[]') ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => silentFields(field, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : silentFields(schema.items, `${path}[]`)),
  ];
}
