import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { chartsFolder, sampleValues } from '#test/support/charts.ts';
import type { ClusterClient, ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

const samples = ['tonplane', 'tonapi'].flatMap((chart) =>
  sampleValues(chart).map((file) => ({ chart, file, name: `${chart} ${basename(file)}` })),
);
const chartOf = (chart: string): string => join(chartsFolder, chart);

const missing =
  withoutHelm('the charts') || withoutOptionalApis('the charts') || (await withoutControlPlane('the charts'));

describe.skipIf(missing)('a rendered chart', () => {
  let client: ClusterClient;
  let helm: Helm;
  beforeAll(async () => {
    const joined = await joinControlPlane();
    ({ client } = joined);
    helm = createHelm(joined.plane.kubeconfigPath);
    await client.create('/api/v1/namespaces', { metadata: { name: 'ton-system' } });
  });
  afterAll(async () => {
    helm?.close();
    await client?.close();
  });

  const render = async (chart: string, file: string): Promise<readonly ClusterObject[]> => {
    const text = await helm.run('template', 'rel', chartOf(chart), '--namespace', 'ton-system', '--values', file);
    return parseAllDocuments(text).flatMap((document) => {
      const object = document.toJS() as ClusterObject | null;
      return object === null ? [] : [object];
    });
  };

  it.each(samples)('of $name passes the linter', async ({ chart, file }) => {
    expect(await helm.run('lint', '--strict', chartOf(chart), '--values', file)).toContain('0 chart(s) failed');
  });

  it.each(samples)('of $name is taken by the API server, every object with every field', async ({ chart, file }) => {
    const objects = await render(chart, file);
    expect(objects.length).toBeGreaterThan(1);
    for (const object of objects) {
      if (object.kind === 'Pod') await makeAccount(object['spec'].serviceAccountName ?? 'default');
      const path = await pathOf(object);
      await expect(
        client.send(
          'PATCH',
          `${path}?dryRun=All&fieldManager=test&force=true&fieldValidation=Strict`,
          object,
          'application/apply-patch+yaml',
        ),
      ).resolves.toBeDefined();
    }
  });

  it.each(samples.filter(({ chart }) => chart === 'tonplane'))(
    'of $name marks its objects and gives no wildcard right',
    async ({ chart, file }) => {
      const objects = await render(chart, file);
      const unmarked = objects.filter(
        ({ kind, metadata }) => !(metadata.labels?.['app.kubernetes.io/instance'] === 'rel' || kind === 'ConfigMap'),
      );
      expect(unmarked.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
      const rules = objects
        .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
        .flatMap((role) => role['rules'] as Record<string, string[]>[]);
      expect(rules.length).toBeGreaterThan(5);
      expect(
        rules.filter((rule) =>
          Object.values(rule)
            .flat()
            .some((word) => ['*', 'escalate', 'bind', 'impersonate', 'pods/exec'].includes(word)),
        ),
      ).toEqual([]);
    },
  );

  it('of the operator for some namespaces has nothing that reaches beyond them', async () => {
    const objects = await render('tonplane', join(chartOf('tonplane'), 'ci/namespaced-values.yaml'));
    expect(objects.filter(({ kind }) => kind?.startsWith('Cluster') === true)).toEqual([]);
    const roles = objects.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace);
    expect(new Set(roles)).toEqual(new Set(['default', 'kube-public', 'ton-system']));
    const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-delete');
    expect(new Set(hooks.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['ton-system']));
    const pods = objects.flatMap((object) =>
      ((object['rules'] ?? []) as { resources: string[]; verbs: string[] }[]).filter(({ resources }) =>
        resources.includes('pods'),
      ),
    );
    expect(new Set(pods.flatMap(({ verbs }) => verbs))).toEqual(new Set(['list', 'watch']));
  });

  it.each([
    ['tonplane', 'replica=3', 'replica'],
    ['tonplane', 'operator.upgradePolicy=Sometimes', 'operator.upgradePolicy'],
    ['tonplane', 'operator.concurrency=0', 'operator.concurrency'],
    ['tonapi', 'spec.network=moon', 'spec.network'],
    ['tonapi', 'spec.replica=3', 'replica'],
    ['tonapi', 'keys[0].name=a', 'plan'],
  ])('of %s is refused with %s', async (chart, value, told) => {
    const said = await helm.refusal('template', 'rel', chartOf(chart), '--set', value);
    expect(said).toContain("values don't meet the specifications of the schema");
    expect(said.replaceAll('/', '.')).toContain(told);
  });

  it('of the operator is refused when tokens would travel in the clear', async () => {
    const said = await helm.refusal('template', 'rel', chartOf('tonplane'), '--set', 'metrics.authorize=true');
    expect(said).toContain('metrics.authorize needs metrics.tls.secretName');
  });

  it('of a TonApi is refused with a name that its children could not bear', async () => {
    expect(await helm.refusal('template', 'n'.repeat(41), chartOf('tonapi'))).toContain('at most 40 characters');
    expect(await helm.refusal('template', 'main.net', chartOf('tonapi'))).toContain('has no dot');
  });

  it('gives examples of the resources that the API server takes', async () => {
    const { annotations } = parse(readFileSync(join(chartOf('tonplane'), 'Chart.yaml'), 'utf8'));
    const examples = parse(annotations['artifacthub.io/crdsExamples']) as ClusterObject[];
    expect(examples.map(({ kind }) => kind)).toEqual(['TonApi', 'TonApiKey']);
    for (const example of examples) {
      const path = await pathOf({ ...example, metadata: { ...example.metadata, namespace: 'default' } });
      await expect(
        client.send(
          'PATCH',
          `${path}?dryRun=All&fieldManager=test&fieldValidation=Strict`,
          example,
          'application/apply-patch+yaml',
        ),
      ).resolves.toBeDefined();
    }
  });

  /** A pod is admitted when its account is there, also dry. */
  async function makeAccount(name: string): Promise<void> {
    const path = `/api/v1/namespaces/ton-system/serviceaccounts/${name}`;
    await client.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  }

  /** Path of an object, found as any client finds it: by what is served. */
  async function pathOf({ apiVersion = '', kind, metadata }: ClusterObject): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const served = (await client.get(root))['resources'] as { kind: string; name: string; namespaced: boolean }[];
    const resource = served.find((each) => each.kind === kind && !each.name.includes('/'));
    if (resource === undefined) throw new TypeError(`${apiVersion} ${kind} is not served`);
    const scope = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'ton-system'}` : '';
    return `${root}${scope}/${resource.name}/${metadata.name}`;
  }
});
