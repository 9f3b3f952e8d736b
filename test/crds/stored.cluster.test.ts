import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';

import { ClusterError, type ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';
import { projectRoot } from '#test/style/sources.ts';

import { tonApi, tonApiKey, type Change } from './cases.ts';

/** Group of the copies of our definitions: their older forms must not reach other tests. */
const group = 'older.tonplane.dev';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const patience = { timeout: 90_000, interval: 200 };

const kinds = [
  { plural: 'tonapis', build: tonApi },
  { plural: 'tonapikeys', build: tonApiKey },
];

/** Rules that came later than the objects of these tests. */
const laterRules = /Services are named after it|port of 1 to 65535/;

/** A definition in another group, as it is now or without the patterns and rules that came later. */
function definition(plural: string, form: 'older' | 'newer') {
  const text = readFileSync(join(projectRoot, `crds/${plural}.tonplane.dev.yaml`), 'utf8');
  const copy = parse(text, (key: unknown, value: unknown) => (form === 'older' ? olderForm(key, value) : value));
  return { ...copy, metadata: { name: `${plural}.${group}` }, spec: { ...copy.spec, group } };
}

function olderForm(key: unknown, value: unknown): unknown {
  if (key === 'x-kubernetes-validations' && Array.isArray(value)) {
    return value.filter(({ message }) => !laterRules.test(message));
  }
  const isTime = typeof value === 'object' && value !== null && 'format' in value && 'pattern' in value;
  return isTime && (value.format === 'duration' || value.format === 'date-time')
    ? { ...value, pattern: undefined }
    : value;
}

function objectOf(plural: string, name: string, change: Change): object {
  const { build } = kinds.find((kind) => kind.plural === plural)!;
  return build(change, (_, object) => Object.assign(object, { apiVersion: `${group}/v1alpha1`, metadata: { name } }));
}

describe.skipIf(await withoutControlPlane('objects of older definitions'))('an object of an older definition', () => {
  let client: ClusterClient;
  let namespace: Awaited<ReturnType<typeof createNamespace>>;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
    namespace = await createNamespace(client, 'stored');
    for (const { plural } of kinds)
      await client.apply(`${definitions}/${plural}.${group}`, definition(plural, 'older'), 'test');
    await created('tonapis', '1net', (spec) => {
      Object.assign(spec, {
        requestTimeout: '1 minute',
        observability: { sloLatency: '2 seconds', tracing: { endpoint: 'http://collector:99999' } },
      });
    });
    await created('tonapikeys', 'first', (spec) => {
      Object.assign(spec, { expiresAt: '2027-01-01T00:00:00,5Z', rotation: { every: '30d', overlap: '1 day' } });
    });
    for (const { plural } of kinds)
      await client.apply(`${definitions}/${plural}.${group}`, definition(plural, 'newer'), 'test');
    // The newer form is served when it refuses a new object.
    await vi.waitFor(() => Promise.all(kinds.map(({ plural }) => isRefused(plural))), patience);
  });
  afterAll(async () => {
    for (const { plural } of kinds) await client?.delete(`${definitions}/${plural}.${group}`);
    await namespace?.delete();
    await client?.close();
  });

  const path = (plural: string): string => `/apis/${group}/v1alpha1/namespaces/${namespace.name}/${plural}`;

  /** A new definition is not served at once. */
  async function created(plural: string, name: string, change: Change): Promise<void> {
    await vi.waitFor(() => client.create(path(plural), objectOf(plural, name, change)), patience);
  }

  /** Ends when the API server refuses an unreadable value. */
  async function isRefused(plural: string): Promise<void> {
    const fields = plural === 'tonapis' ? { requestTimeout: '1 minute' } : { expiresAt: '2027-01-01T00:00:00,5Z' };
    const probe = objectOf(plural, 'probe', (spec) => Object.assign(spec, fields));
    const made = client.create(`${path(plural)}?dryRun=All`, probe);
    const refusal = await made.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(refusal instanceof ClusterError)) throw new Error(`expected a refusal, got ${String(refusal)}`);
  }

  it('may be edited although its name and its values would be refused today', async () => {
    await client.merge(`${path('tonapis')}/1net`, { spec: { replicas: 7 } });
    await client.merge(`${path('tonapikeys')}/first`, { spec: { disabled: true } });
    expect((await client.get(`${path('tonapis')}/1net`))['spec']).toMatchObject({
      replicas: 7,
      requestTimeout: '1 minute',
    });
    expect((await client.get(`${path('tonapikeys')}/first`))['spec']).toMatchObject({ disabled: true });
  });

  it.each([
    ['tonapis', '1net', { requestTimeout: '2 minutes' }, 'spec.requestTimeout'],
    ['tonapis', '1net', { observability: { sloLatency: '1H' } }, 'spec.observability.sloLatency'],
    ['tonapikeys', 'first', { rotation: { every: '1h 30m' } }, 'spec.rotation.every'],
    ['tonapikeys', 'first', { expiresAt: '2028-01-01T00:00:00,5Z' }, 'spec.expiresAt'],
  ])('of %s gets no other value of the kind', async (plural, name, spec, field) => {
    const refusal = await client.merge(`${path(plural)}/${name}`, { spec }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ClusterError);
    expect((refusal as ClusterError).causes.map((cause) => cause.field)).toContain(field);
    expect((refusal as ClusterError).message).toContain('should match');
  });
});
