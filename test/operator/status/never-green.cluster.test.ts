import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { ports } from '#operator/desired/deployment.ts';
import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { kstatusOf, withoutKstatus } from '#test/support/kstatus.ts';
import { pathOf, startOperatorCluster, tonApiPath, type OperatorCluster } from '#test/support/operator-cluster.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { applyOptionalApis } from '#test/support/optional-apis.ts';

const patience = { timeout: 240_000, interval: 200 } as const;
const podsPath = '/api/v1/namespaces/default/pods';
const keysPath = '/apis/tonplane.dev/v1alpha1/namespaces/default/tonapikeys';

/** Address of every pod that a test declares ready, in the cluster and on loopback. */
const podAddress = { cluster: '10.244.9.9', loopback: '127.244.9.9' } as const;

const argoHealth = (): string => {
  const text = readFileSync(join(chartsFolder, 'tonplane/integrations/argocd-health.yaml'), 'utf8');
  const values = parse(text) as { configs: { cm: Record<string, string> } };
  return values.configs.cm['resource.customizations.health.tonplane.dev_TonApi'] ?? '';
};

const missing =
  withoutOptionalApis('what is broken and never green', ['ScaledObject']) ||
  (await withoutControlPlane('what is broken and never green', 'ours', 'controllers'));

describe.skipIf(missing)('a TonApi that is broken', () => {
  let on: OperatorCluster;
  /** Answers as every pod that is declared ready. */
  let page: Server;
  let configHash = '';
  /** A TonApi while it was well, and while its new pods could not start. */
  const judged: ClusterObject[] = [];
  beforeAll(async () => {
    on = await startOperatorCluster();
    await applyOptionalApis(on.client, ['ScaledObject']);
    page = createServer((_request, response) => {
      response.end(JSON.stringify({ version: '0.1.0', configHash, liteServers: [{ phase: 'in' }] }));
    });
    await new Promise<void>((resolve) => page.listen(ports.internal, podAddress.loopback, resolve));
  });
  afterAll(async () => {
    page?.close();
    await on?.stop();
  });

  const conditionOf = async (name: string, type: string): Promise<string> => {
    const found = (await on.conditions(name))[type];
    return found === undefined ? 'none' : `${found.status}/${found.reason}: ${found.message}`;
  };
  const ready = (name: string): Promise<string> => conditionOf(name, 'Ready');
  const podsOf = (name: string): Promise<readonly ClusterObject[]> =>
    on.client.list(`${podsPath}?labelSelector=app.kubernetes.io/instance%3D${name}`);

  type KeyCondition = { readonly type: string; readonly reason: string; readonly message: string };

  async function keyReady(name: string): Promise<KeyCondition | undefined> {
    const { status } = await on.client.get(`${keysPath}/${name}`);
    const conditions = status?.['conditions'] as readonly KeyCondition[] | undefined;
    return conditions?.find(({ type }) => type === 'Ready');
  }

  const keyReason = async (name: string): Promise<string | undefined> => (await keyReady(name))?.reason;
  const keyMessage = async (name: string): Promise<string | undefined> => (await keyReady(name))?.message;

  /** Declares all pods of a TonApi ready that no test has given a state. */
  async function startPods(name: string): Promise<void> {
    const config = await on.child('ConfigMap', `${name}-config`);
    configHash = config?.metadata.annotations?.['tonplane.dev/config-hash'] ?? '';
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const { metadata, status } of await podsOf(name)) {
      if (status.containerStatuses !== undefined) continue;
      const conditions = ['Ready', 'ContainersReady', 'Initialized', 'PodScheduled'].map((type) => {
        return { type, status: 'True', lastTransitionTime: since };
      });
      const state = { phase: 'Running', podIP: podAddress.cluster, podIPs: [{ ip: podAddress.cluster }], conditions };
      await on.client.merge(`${podsPath}/${metadata.name}/status`, { status: state });
    }
  }

  it('is Stalled with the words of a quota, makes everything else, and goes on when there is room', async () => {
    const quotas = '/api/v1/namespaces/default/resourcequotas';
    await on.client.create(quotas, { metadata: { name: 'none' }, spec: { hard: { services: '0' } } });
    await expect
      .poll(async () => (await on.client.get(`${quotas}/none`))['status']?.hard?.services, patience)
      .toBe('0');
    await on.apply('quota', { rateLimits: { redis: { secretRef: { name: 'there' } } } });
    await on.client.create(pathOf('Secret'), { metadata: { name: 'there' }, stringData: { url: 'redis://x' } });
    await expect.poll(() => ready('quota'), patience).toMatch(/^False\/QuotaExceeded: .*exceeded quota: none/);
    expect(await conditionOf('quota', 'Stalled')).toMatch(/^True\/QuotaExceeded/);
    await expect.poll(() => on.child('Deployment', 'quota-api'), patience).toBeDefined();
    await expect.poll(() => on.child('PodDisruptionBudget', 'quota-api'), patience).toBeDefined();
    const events = await on.client.list('/apis/events.k8s.io/v1/namespaces/default/events');
    expect(events.some((event) => event['reason'] === 'QuotaExceeded' && event['type'] === 'Warning')).toBe(true);
    const refusals = await on.operator.register.getSingleMetric('ton_operator_refusals_total')?.get();
    expect(refusals?.values.map(({ labels }) => labels)).toContainEqual({ kind: 'Service', reason: 'QuotaExceeded' });
    await on.client.delete(`${quotas}/none`);
    await on.annotate('quota', { look: 'again' });
    await expect.poll(() => on.child('Service', 'quota-api'), patience).toBeDefined();
    await expect.poll(() => conditionOf('quota', 'Stalled'), patience).toBe('none');
    await on.client.delete(`${tonApiPath}/quota`);
  });

  it('has the words of an admission policy that denies and of a webhook that is away', async () => {
    const admission = '/apis/admissionregistration.k8s.io/v1';
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['services'] }];
    await on.client.create(`${admission}/validatingadmissionpolicies`, {
      metadata: { name: 'no' },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [{ expression: "!object.metadata.name.startsWith('denied')", message: 'not on a Friday' }],
      },
    });
    await on.client.create(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no' },
      spec: { policyName: 'no', validationActions: ['Deny'] },
    });
    await on.client.create(`${admission}/validatingwebhookconfigurations`, {
      metadata: { name: 'away' },
      webhooks: [
        {
          name: 'away.example.com',
          clientConfig: { url: 'https://127.0.0.1:1/' },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules,
          objectSelector: { matchLabels: { 'app.kubernetes.io/instance': 'hooked' } },
        },
      ],
    });
    const refusalOf = (name: string, labels: object): Promise<string> =>
      on.client
        .create(`${pathOf('Service')}?dryRun=All`, { metadata: { name, labels }, spec: { ports: [{ port: 80 }] } })
        .then(() => 'accepted', String);
    await expect.poll(() => refusalOf('denied-first', {}), patience).toContain('not on a Friday');
    const hooked = { 'app.kubernetes.io/instance': 'hooked' };
    await expect.poll(() => refusalOf('hooked-first', hooked), patience).toContain('away.example.com');
    await on.apply('denied');
    await on.apply('hooked');
    await expect.poll(() => ready('denied'), patience).toMatch(/^False\/AdmissionDenied: .*not on a Friday/);
    expect(await conditionOf('denied', 'Stalled')).toMatch(/^True\/AdmissionDenied/);
    await expect.poll(() => ready('hooked'), patience).toMatch(/^False\/WebhookUnavailable: .*away\.example\.com/);
    expect(await conditionOf('hooked', 'Stalled')).toBe('none');
    expect(await conditionOf('hooked', 'Reconciling')).toMatch(/^True\/WebhookUnavailable/);
    await on.client.delete(`${admission}/validatingwebhookconfigurations/away`);
    await on.client.delete(`${admission}/validatingadmissionpolicybindings/no`);
    await on.client.delete(`${tonApiPath}/denied`);
    await on.client.delete(`${tonApiPath}/hooked`);
  });

  it('is refused for a quantity or a toleration that is none, and Stalled for what only the server knows', async () => {
    await expect(on.apply('wrong', { resources: { requests: { cpu: 'lots' } } })).rejects.toThrow(/requests\.cpu/);
    for (const toleration of [{ key: 'a', operator: 'exists' }, { operater: 'Exists' }]) {
      await expect(on.apply('wrong', { podTemplate: { tolerations: [toleration] } })).rejects.toThrow(/operat[oe]r/);
    }
    const terms = [{ matchExpressions: [{ key: 'a', operater: 'Exists' }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    await on.apply('wrong', { podTemplate: { affinity: { nodeAffinity } } });
    await expect.poll(() => ready('wrong'), patience).toMatch(/^False\/InvalidValue: .*operater/);
    expect(await conditionOf('wrong', 'Stalled')).toMatch(/^True\/InvalidValue/);
    await on.client.delete(`${tonApiPath}/wrong`);
  });

  it('makes the Ingress whose certificate is not there, and keeps plans and scale when a Secret is gone', async () => {
    const exposure = { kind: 'Ingress', hosts: ['a.example.com'], tlsSecretName: 'certificate' };
    const rateLimits = { redis: { secretRef: { name: 'there' } } };
    await on.apply('exposed', { exposure, rateLimits });
    await expect.poll(() => on.child('Ingress', 'exposed-api'), patience).toBeDefined();
    await expect.poll(() => on.child('Deployment', 'exposed-api'), patience).toBeDefined();
    expect(await ready('exposed')).toMatch(/^False\/SecretNotFound: .*Secret certificate is not there/);
    await on.client.delete(`${pathOf('Secret')}/there`);
    const plans = [{ name: 'free', requestsPerSecond: 77, burst: 77 }];
    await on.apply('exposed', { exposure, rateLimits, plans, replicas: 4 });
    const config = async (): Promise<string> =>
      JSON.stringify((await on.child('ConfigMap', 'exposed-config'))?.['data'] ?? {});
    await expect.poll(config, patience).toContain('77');
    await expect.poll(async () => (await on.child('Deployment', 'exposed-api'))?.['spec'].replicas, patience).toBe(4);
    expect(await ready('exposed')).toMatch(/^False\/SecretNotFound: .*Secret there is not there/);
    await on.client.delete(`${tonApiPath}/exposed`);
  });

  it('is not Ready while new pods cannot pull their image, nor when their ServiceAccount is missing', async () => {
    const spec = { rateLimits: { redis: { embedded: true } }, networkPolicy: false };
    await on.apply('green', spec);
    await expect.poll(async () => (await podsOf('green')).length, patience).toBe(3);
    await startPods('green');
    await expect.poll(() => ready('green'), patience).toMatch(/^True\/Serving/);
    judged.push(await on.client.get(`${tonApiPath}/green`));

    await on.apply('green', { ...spec, image: { repository: 'registry.example.com/none', tag: 'none' } });
    await expect.poll(async () => (await podsOf('green')).length, patience).toBe(4);
    const [pod] = (await podsOf('green')).filter(({ status }) => status.phase === 'Pending');
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };
    const container = { name: 'api', ready: false, restartCount: 0, image: 'x', imageID: '', state: { waiting } };
    await on.client.merge(`${podsPath}/${pod?.metadata.name}/status`, { status: { containerStatuses: [container] } });
    await expect
      .poll(() => ready('green'), { ...patience, timeout: 30_000 })
      .toMatch(/^False\/RollingOut: .*ImagePullBackOff: Back-off pulling image/);
    expect(await conditionOf('green', 'Available')).toMatch(/^True/);
    judged.push(await on.client.get(`${tonApiPath}/green`));

    await on.apply('bare', { podTemplate: { serviceAccountName: 'absent' } });
    await expect.poll(() => ready('bare'), patience).toMatch(/^False\/.*ReplicaFailure: .*serviceaccount "absent"/);
    await on.client.delete(`${tonApiPath}/green`);
    await on.client.delete(`${tonApiPath}/bare`);
  });

  it.skipIf(withoutKstatus('health of a real TonApi'))(
    'is in progress for kstatus and for Argo CD, and was current',
    () => {
      const verdicts = kstatusOf(judged, argoHealth());
      expect(verdicts.map(({ kstatus, argo }) => `${kstatus} ${argo}`)).toEqual([
        'Current Healthy',
        'InProgress Progressing',
      ]);
    },
  );

  it('reports an autoscaler that cannot scale, and makes all else', async () => {
    const autoscaling = { minReplicas: 1, maxReplicas: 5, targetRequestsPerSecond: 100 };
    await on.apply('scaled', { autoscaling: { ...autoscaling, provider: 'HPA' } });
    await expect
      .poll(() => conditionOf('scaled', 'ScalingActive'), patience)
      .toMatch(/^False\/FailedGetPodsMetric: .*custom metrics API/);
    const exposure = { kind: 'Ingress', hosts: ['b.example.com'] };
    await on.apply('scaled', { autoscaling: { ...autoscaling, provider: 'KEDA' }, exposure });
    await expect.poll(() => on.child('Ingress', 'scaled-api'), patience).toBeDefined();
    await expect
      .poll(() => conditionOf('scaled', 'ScalingActive'), patience)
      .toMatch(/^False\/PrometheusUrlMissing: .*operator\.prometheusUrl/);
    const scaledObjects = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';
    await expect.poll(() => on.client.list(scaledObjects).catch(() => undefined), patience).toEqual([]);
  });

  it('names the autoscaler whose scale it undoes', async () => {
    await on.apply('fixed', { replicas: 2 });
    await on.settled('fixed');
    const path = `${pathOf('Deployment')}/fixed-api/scale?fieldManager=kube-controller-manager`;
    await on.client.merge(path, { spec: { replicas: 7 } });
    const managers = async (): Promise<unknown[]> =>
      ((await on.operator.register.getSingleMetric('ton_operator_drift_corrections_total')?.get())?.values ?? []).map(
        ({ labels }) => labels['manager'],
      );
    await expect.poll(managers, patience).toEqual(['kube-controller-manager']);
  });

  it('has a disabled or deleted key that names Redis, while neither Redis nor the pods refuse it', async () => {
    await on.apply('away');
    await on.client.create(keysPath, {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApiKey',
      metadata: { name: 'leaving' },
      spec: { apiRef: { name: 'away' }, plan: 'free' },
    });
    await expect.poll(() => keyReason('leaving'), patience).toBe('Propagating');
    await on.client.merge(`${keysPath}/leaving`, { spec: { disabled: true } });
    await expect.poll(() => keyMessage('leaving'), patience).toContain('Redis; the disabled key may be accepted until');
    await on.client.delete(`${keysPath}/leaving`);
    await expect.poll(() => keyMessage('leaving'), patience).toContain('Redis; the deleted key may be accepted until');
    expect(await keyReason('leaving')).toBe('RedisUnavailable');
    await on.client.delete(`${tonApiPath}/away`);
    await expect.poll(() => on.client.find(`${keysPath}/leaving`), patience).toBeUndefined();
  });

  it('has a key that has expired looked at a few times and no more', async () => {
    for (const name of ['ended-a', 'ended-b']) {
      await on.client.create(keysPath, {
        apiVersion: 'tonplane.dev/v1alpha1',
        kind: 'TonApiKey',
        metadata: { name },
        spec: { apiRef: { name: 'fixed' }, plan: 'free', expiresAt: '2020-01-01T00:00:00Z' },
      });
    }
    await expect.poll(() => keyReason('ended-b'), patience).toBe('Expired');
    await on.settled('fixed');
    const looks = async (): Promise<number> =>
      ((await on.operator.register.getSingleMetric('controller_runtime_reconcile_total')?.get())?.values ?? [])
        .filter(({ labels }) => labels['controller'] === 'tonapikey')
        .reduce((sum, { value }) => sum + value, 0);
    const before = await looks();
    await new Promise((resolve) => setTimeout(resolve, 5000));
    expect((await looks()) - before).toBeLessThanOrEqual(4);
  });
});
