import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';

const chartOf = (chart: string): string => join(chartsFolder, chart);

describe.skipIf(withoutHelm('the values of the charts'))('the values of a chart', () => {
  let helm: Helm;
  let folder: string;
  beforeAll(() => {
    helm = createHelm();
    folder = mkdtempSync(join(tmpdir(), 'tonplane-values-'));
  });
  afterAll(() => {
    helm?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function render(chart: string, args: readonly string[], release = 'rel'): Promise<readonly ClusterObject[]> {
    const text = await helm.run('template', release, chartOf(chart), '--namespace', 'ton-system', ...args);
    return parseAllDocuments(text).flatMap((document) => {
      expect(document.errors).toEqual([]);
      const object = document.toJS() as ClusterObject | null;
      return object === null ? [] : [object];
    });
  }
  const egress = async (...args: readonly string[]): Promise<{ ports?: { port: number }[] }[]> => {
    const objects = await render('tonplane', args);
    return objects.find(({ kind }) => kind === 'NetworkPolicy')?.['spec'].egress;
  };

  it.each([
    ['tonplane', 'networkPolicy.apiServerPorts=null', 'apiServerPorts'],
    ['tonplane', 'networkPolicy=null', 'networkPolicy'],
    ['tonplane', 'metrics.tls=null', 'tls'],
    ['tonplane', 'metrics=null', 'metrics'],
    ['tonplane', 'operator=null', 'operator'],
    ['tonplane', 'image=null', 'image'],
    ['tonplane', 'healthPort=null', 'healthPort'],
    ['tonplane', 'operator.rolloutDelay=null', 'rolloutDelay'],
    ['tonplane', 'namespaces={a,a}', 'namespaces'],
    ['tonplane', 'image.repository=x/y:1.0', 'repository'],
    ['tonplane', 'serviceImage.repository=UPPER/x', 'repository'],
    ['tonplane', 'image.tag=a b', 'tag'],
    ['tonplane', 'image.registry=https://registry.example.com', 'registry'],
    ['tonplane', 'global.imageRegistry=registry.example.com/', 'imageRegistry'],
    ['tonplane', 'redisImage=Redis:8', 'redisImage'],
    ['tonplane', 'operator.tracingEndpoint=collector:4318', 'tracingEndpoint'],
    ['tonplane', 'operator.prometheusUrl=prometheus:9090', 'prometheusUrl'],
    ['tonapi', 'spec=null', 'spec'],
    ['tonapi', 'testImage=a b', 'testImage'],
  ])('of %s are refused with %s, by name', async (chart, value, named) => {
    const said = await helm.refusal('template', 'rel', chartOf(chart), '--set', value);
    expect(said).toContain("values don't meet the specifications of the schema");
    expect(said).toContain(named);
    expect(said).not.toContain('nil pointer');
  });

  it('have at least one port of the API server, because a rule without ports allows everything', async () => {
    for (const more of [[], ['--skip-schema-validation']]) {
      const args = ['--set-json', 'networkPolicy.apiServerPorts=[]', ...more];
      const said = await helm.refusal('template', 'rel', chartOf('tonplane'), ...args);
      expect(said).toContain('apiServerPorts');
    }
    expect((await egress()).filter(({ ports = [] }) => ports.length === 0)).toEqual([]);
  });

  it.each([
    ['http://collector:4318', 4318],
    ['http://collector', 80],
    ['https://collector/v1/traces', 443],
    ['https://[fd00::1]/v1', 443],
    ['https://[fd00::1]:4318/v1', 4318],
    ['http://collector/a:7', 80],
  ])('open the port of the endpoint %s for traces: %i', async (endpoint, port) => {
    const rules = await egress('--set', `operator.tracingEndpoint=${endpoint}`);
    expect(rules.at(-1)).toEqual({ ports: [{ port }] });
  });

  it.each(['x/y', 'ghcr.io/tonplane/operator', 'localhost:5000/x', 'registry.example.com:5000/a-b/c__d.e', 'x--y/z'])(
    'take the repository %s',
    async (repository) => {
      const args = ['--set', `image.repository=${repository},image.registry=,image.tag=v1.0_a-b`];
      const objects = await render('tonplane', args);
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      expect(deployment?.['spec'].template.spec.containers[0].image).toBe(`${repository}:v1.0_a-b`);
    },
  );

  it.each(['redis:8.2-alpine', `reg.example.com/redis@sha256:${'a'.repeat(64)}`])(
    'take the image %s',
    async (image) => {
      await expect(render('tonplane', ['--set', `redisImage=${image}`])).resolves.toBeDefined();
      await expect(render('tonapi', ['--set', `testImage=${image}`])).resolves.toBeDefined();
    },
  );

  it.each(['', '{}', '  {"a": 1}\n', '\n\n\t{\n"a": "<&>"}', ' # no comment\n{}'])(
    'take a global config as it is: %j',
    async (text) => {
      const file = join(folder, 'global.config.json');
      writeFileSync(file, text);
      const objects = await render('tonapi', ['--set-file', `globalConfig=${file}`]);
      const found = objects.find(({ kind }) => kind === 'ConfigMap')?.['data']['global.config.json'];
      expect(found ?? '').toBe(text.trimEnd());
    },
  );

  it.each(['tonplane', 'tonapi'])(
    'of %s stay texts in a release and a namespace that look like numbers',
    async (chart) => {
      const args = ['--namespace', '123', ...(chart === 'tonplane' ? ['--set-string', 'fullnameOverride=456'] : [])];
      const objects = await render(chart, args, '789');
      for (const { metadata } of objects) {
        const { name, namespace = '', labels = {} } = metadata;
        expect([name, namespace, ...Object.values(labels)].map((value) => typeof value)).not.toContain('number');
      }
    },
  );
});
