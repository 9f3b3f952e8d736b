import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';

import { parseOptions } from '#operator/options.ts';
import { chartsFolder } from '#test/support/charts.ts';
import { createClusterClient, type ClusterClient, type ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';

/** Digest of an image. */
const digest = `sha256:${'0'.repeat(64)}`;

/** A chart of a user with both charts as its dependencies, and values that other charts share. */
const parentValues = {
  global: {
    imageRegistry: 'registry.example.com:5000',
    imagePullSecrets: [{ name: 'registry' }],
    storageClass: 'fast',
    security: { allowInsecureImages: false },
  },
  tonplane: { enabled: true },
  tonapi: { enabled: true, name: 'main' },
};

/** Writes the parent chart into a folder of its own. */
function writeParent(): string {
  const parent = mkdtempSync(join(tmpdir(), 'tonplane-umbrella-'));
  const names = ['tonplane', 'tonapi'];
  const dependencies = names.map((name) => ({ name, version: '>=0.0.0-0', condition: `${name}.enabled` }));
  writeFileSync(
    join(parent, 'Chart.yaml'),
    stringify({ apiVersion: 'v2', name: 'platform', version: '1.0.0', dependencies }),
  );
  writeFileSync(join(parent, 'values.yaml'), stringify(parentValues));
  mkdirSync(join(parent, 'charts'));
  for (const name of names) cpSync(join(chartsFolder, name), join(parent, 'charts', name), { recursive: true });
  return parent;
}

describe.skipIf(withoutHelm('charts as dependencies'))('charts as dependencies of another chart', () => {
  let helm: Helm;
  let parent: string;
  beforeAll(() => {
    helm = createHelm();
    parent = writeParent();
  });
  afterAll(() => {
    helm?.close();
    rmSync(parent, { recursive: true, force: true });
  });

  const render = async (...args: readonly string[]): Promise<readonly ClusterObject[]> => {
    const text = await helm.run('template', 'rel', parent, '--namespace', 'platform', ...args);
    return parseAllDocuments(text).flatMap((document) => {
      const object = document.toJS() as ClusterObject | null;
      return object === null ? [] : [object];
    });
  };

  const rulesOf = async (...args: readonly string[]) => {
    const objects = await render('--set', 'tonplane.metrics.prometheusRule.enabled=true', ...args);
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule');
    const groups = rule?.['spec'].groups as { rules: { labels: object; annotations: Record<string, string> }[] }[];
    return groups.flatMap(({ rules }) => rules);
  };

  it('accept `enabled` and values that other charts share, and render both', async () => {
    const kinds = (await render()).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'TonApi', 'CustomResourceDefinition']));
  });

  it('render nothing of a dependency that `enabled: false` takes away', async () => {
    const objects = await render('--set', 'tonplane.enabled=false');
    expect(objects.map(({ kind }) => kind)).not.toContain('Deployment');
    expect(objects.map(({ kind }) => kind)).toContain('TonApi');
  });

  it('refuse a value that a chart does not know, as before', async () => {
    expect(await helm.refusal('template', 'rel', parent, '--set', 'tonplane.enable=true')).toContain('enable');
  });

  it('take every image from the shared registry, with its credentials', async () => {
    const objects = await render();
    const pods = objects.flatMap((object) => {
      if (object.kind === 'Pod') return [object['spec']];
      return object.kind === 'Deployment' ? [object['spec'].template.spec] : [];
    });
    expect(pods.length).toBe(3);
    for (const { containers, imagePullSecrets } of pods) {
      expect(containers[0].image).toMatch(/^registry\.example\.com:5000\/tonplane\//);
      expect(imagePullSecrets).toEqual([{ name: 'registry' }]);
    }
    expect(optionsOf(objects)).toMatchObject({
      image: expect.stringMatching(/^registry\.example\.com:5000\/tonplane\/service:/),
      redisImage: 'registry.example.com:5000/library/redis:8.2-alpine',
      pullSecrets: ['registry'],
    });
    expect(objects.find(({ kind }) => kind === 'TonApi')?.['spec'].image).toEqual({
      repository: 'registry.example.com:5000/tonplane/service',
      pullSecrets: ['registry'],
    });
  });

  it('take the embedded Redis of the shared registry by the same name as without one', async () => {
    const { redisImage } = parseOptions([], {});
    expect(optionsOf(await render()).redisImage).toBe(`registry.example.com:5000/library/${redisImage}`);
  });

  it.each([
    ['redis:8', 'registry.example.com:5000/library/redis:8'],
    ['docker.io/bitnami/redis:8', 'registry.example.com:5000/bitnami/redis:8'],
    ['localhost/redis:8', 'registry.example.com:5000/library/redis:8'],
    [`team/redis@${digest}`, `registry.example.com:5000/team/redis@${digest}`],
  ])('take a Redis image %s of the shared registry as %s', async (image, expected) => {
    expect(optionsOf(await render('--set', `tonplane.redisImage=${image}`)).redisImage).toBe(expected);
  });

  it('give user and group ids to no pod where the platform is OpenShift', async () => {
    const objects = await render('--api-versions', 'security.openshift.io/v1');
    const pods = [operatorOf(objects)['spec'].template.spec, ...objects.filter(({ kind }) => kind === 'Pod').map(spec)];
    expect(pods.length).toBe(3);
    for (const { securityContext } of pods) {
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    }
    expect(optionsOf(objects).platformIds).toBe(true);
  });

  it('give user and group ids to no pod of the operator where `podSecurityContext` is null', async () => {
    const objects = await render('--set', 'tonplane.podSecurityContext=null');
    const { securityContext } = operatorOf(objects)['spec'].template.spec;
    expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(optionsOf(objects).platformIds).toBe(true);
    expect(optionsOf(await render()).platformIds).toBe(false);
  });

  it('give alerts of the operator the severities and the links that values name, and no dead link without', async () => {
    const plain = await rulesOf();
    expect(new Set(plain.map(({ labels }) => Object.values(labels)[0]))).toEqual(
      new Set(['critical', 'warning', 'info']),
    );
    for (const { annotations } of plain) {
      expect(annotations['runbook_url']).toBeUndefined();
      expect(existsSync(join(chartsFolder, '..', annotations['runbook'] ?? ''))).toBe(true);
    }
    const words = 'critical=warning,tonplane.metrics.prometheusRule.severities.warning=ticket';
    const mapped = await rulesOf(
      '--set',
      `tonplane.metrics.runbookUrl=https://run.example.com,tonplane.metrics.prometheusRule.severities.${words}`,
    );
    expect(new Set(mapped.map(({ labels }) => Object.values(labels)[0]))).toEqual(
      new Set(['warning', 'ticket', 'info']),
    );
    expect(mapped.every(({ annotations }) => annotations['runbook_url']?.startsWith('https://run.example.com/'))).toBe(
      true,
    );
  });

  it('pass severities and the blackbox exporter on to the operator', async () => {
    const objects = await render(
      '--set',
      'tonplane.metrics.prometheusRule.severities.critical=page,tonplane.operator.blackboxExporter.address=blackbox:9115',
    );
    expect(optionsOf(objects)).toMatchObject({
      alertSeverities: { critical: 'page' },
      blackboxExporter: { address: 'blackbox:9115', module: 'http_2xx' },
    });
  });

  it('mount the authorities of the collector, and name their file to the operator', async () => {
    const args = [
      'tonplane.operator.tracingCaBundle.secretRef.name=ca',
      'tonplane.operator.tracingEndpoint=https://c:4318',
    ];
    const { containers, volumes } = operatorOf(await render('--set', args.join(',')))['spec'].template.spec;
    const variable = { name: 'OTEL_EXPORTER_OTLP_CERTIFICATE', value: '/tracing-ca/ca.crt' };
    expect(containers[0].env).toContainEqual(variable);
    expect(containers[0].volumeMounts).toContainEqual({ name: 'tracing-ca', mountPath: '/tracing-ca', readOnly: true });
    const items = [{ key: 'ca.crt', path: 'ca.crt' }];
    expect(volumes).toContainEqual({ name: 'tracing-ca', secret: { secretName: 'ca', items } });
    const message = await helm.refusal('template', 'rel', parent, '--set', args[0]?.replace('.name', '.names') ?? '');
    expect(message).toContain('names');
  });

  it('pass labels and annotations for all children on to the operator', async () => {
    const kinds = [{ kind: 'ServiceMonitor', labels: { release: 'prometheus' } }];
    const childMetadata = { labels: { team: 'ton' }, kinds };
    const objects = await render('--set-json', `tonplane.childMetadata=${JSON.stringify(childMetadata)}`);
    expect(optionsOf(objects).childMetadata).toEqual(childMetadata);
  });
});

const missing = withoutHelm('an installed parent chart') || (await withoutControlPlane('an installed parent chart'));

describe.skipIf(missing)('a parent chart with both charts', () => {
  let plane: ControlPlane;
  let client: ClusterClient;
  let helm: Helm;
  let parent: string;
  beforeAll(async () => {
    plane = await startControlPlane({ controllers: false });
    client = createClusterClient({ ...plane, token: plane.adminToken });
    helm = createHelm(plane.kubeconfigPath);
    parent = writeParent();
    await client.create('/api/v1/namespaces', { metadata: { name: 'platform' } });
  });
  afterAll(async () => {
    helm?.close();
    await client?.close();
    await plane?.stop();
    rmSync(parent, { recursive: true, force: true });
  });

  it('is installed with the definitions first, and is upgraded with a TonApi and its keys then', async () => {
    const namespace = ['--namespace', 'platform'];
    const keys = ['--set-json', 'tonapi.keys=[{"name":"customer","plan":"free"}]'];
    expect(await helm.refusal('install', 'rel', parent, ...namespace)).toContain('ensure CRDs are installed first');
    await helm.run('install', 'rel', parent, ...namespace, '--set', 'tonapi.enabled=false');
    await helm.run('upgrade', 'rel', parent, ...namespace, ...keys);
    const root = '/apis/tonplane.dev/v1alpha1/namespaces/platform';
    const tonApi = await client.get(`${root}/tonapis/main`);
    const key = await client.get(`${root}/tonapikeys/customer`);
    await helm.run('upgrade', 'rel', parent, ...namespace, ...keys);
    expect((await client.get(`${root}/tonapis/main`)).metadata.generation).toBe(tonApi.metadata.generation);
    expect((await client.get(`${root}/tonapikeys/customer`)).metadata.uid).toBe(key.metadata.uid);
  });
});

const spec = (object: ClusterObject) => object['spec'];

const operatorOf = (objects: readonly ClusterObject[]): ClusterObject =>
  objects.find(({ kind }) => kind === 'Deployment') as ClusterObject;
const argsOf = (objects: readonly ClusterObject[]): readonly string[] =>
  operatorOf(objects)['spec'].template.spec.containers[0].args;
const optionsOf = (objects: readonly ClusterObject[]) => parseOptions(argsOf(objects), {});
