import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parsePluginOptions } from '#operator/kubectl/options.ts';
import { runPlugin, type PluginOutput } from '#operator/kubectl/plugin.ts';
import { createHttpMetrics } from '#service/http/metrics.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { writeKubeconfig } from '#test/support/operator.ts';
import { joinControlPlane, type SharedControlPlane } from '#test/support/shared-control-plane.ts';
import { skipLoudly } from '#test/support/skips.ts';

const space = 'kubectl-ton';
const inSpace = `/api/v1/namespaces/${space}`;
const tonplane = `/apis/tonplane.dev/v1alpha1/namespaces/${space}`;
const spec = {
  network: 'mainnet',
  liteServerConfigRef: { name: 'servers' },
  plans: [{ name: 'free', requestsPerSecond: 1 }],
  rateLimits: { redis: { embedded: true } },
};
const since = { lastTransitionTime: '2026-11-28T09:00:00Z' };

const ours = (kind: string, name: string) => ({ apiVersion: 'tonplane.dev/v1alpha1', kind, metadata: { name } });

/** A Deployment as the chart makes it. */
const operator = (name: string, flag = '--log-level=warn') => ({
  metadata: {
    name,
    labels: {
      'app.kubernetes.io/part-of': 'tonplane',
      'app.kubernetes.io/component': 'operator',
      'app.kubernetes.io/version': '0.2.0',
    },
  },
  spec: {
    selector: { matchLabels: { name } },
    template: {
      metadata: { labels: { name } },
      spec: {
        containers: [{ name: 'operator', image: 'x', args: [`--namespaces=${space}`, flag] }],
      },
    },
  },
});

/** The API server dials pods at their address, and refuses loopback addresses. */
const outward = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

/** Runs a command of a kubeconfig in the namespace of the tests. */
function runAs(kubeconfig: string, ...words: string[]): Promise<PluginOutput> {
  const options = parsePluginOptions([...words, '--kubeconfig', kubeconfig, '-n', space]);
  return runPlugin(options, { version: '0.2.0', manifest: undefined });
}

describe.skipIf(await withoutControlPlane('the plugin of kubectl', 'ours'))('kubectl ton', () => {
  let plane: SharedControlPlane;
  let client: ClusterClient;
  /** A kubeconfig of an account that may view pods and Deployments of the namespace, and nothing else. */
  let viewer: string;

  const run = (...words: string[]): Promise<PluginOutput> => runAs(plane.kubeconfigPath, ...words);
  const rowsOf = async (...words: string[]) => {
    const { text, problems } = await run(...words, '-o', 'json');
    expect(problems).toEqual([]);
    return JSON.parse(text) as Record<string, unknown>[];
  };

  async function createViewer(): Promise<string> {
    const accounts = `${inSpace}/serviceaccounts`;
    await client.create(accounts, { metadata: { name: 'viewer' } });
    const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${space}`;
    await client.create(`${rights}/roles`, {
      metadata: { name: 'viewer' },
      rules: [{ apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], verbs: ['get', 'list'] }],
    });
    await client.create(`${rights}/rolebindings`, {
      metadata: { name: 'viewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
      subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: space }],
    });
    const { status } = await client.create(`${accounts}/viewer/token`, { spec: { expirationSeconds: 3600 } });
    return writeKubeconfig(plane, status.token as string);
  }

  async function createPod(name: string, component: string, port: number, address: string | undefined): Promise<void> {
    const labels = {
      'app.kubernetes.io/instance': 'main',
      'app.kubernetes.io/component': component,
      'app.kubernetes.io/managed-by': 'ton-operator',
      'app.kubernetes.io/version': '0.2.0',
    };
    const container = { name: 'api', image: 'x', ports: [{ name: 'metrics', containerPort: port }] };
    await client.create(`${inSpace}/pods`, {
      metadata: { name, labels },
      spec: { serviceAccountName: 'viewer', containers: [container] },
    });
    const condition = { type: 'Ready', status: address === undefined ? 'False' : 'True' };
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } };
    const state = address === undefined ? waiting : { running: {} };
    const containerStatuses = [{ name: 'api', image: 'x', imageID: '', ready: true, restartCount: 3, state }];
    const where = address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] };
    const phase = address === undefined ? 'Pending' : 'Running';
    await client.merge(`${inSpace}/pods/${name}/status`, {
      status: { phase, conditions: [condition], containerStatuses, ...where },
    });
  }

  beforeAll(async () => {
    ({ plane, client } = await joinControlPlane());
    await client.create('/api/v1/namespaces', { metadata: { name: space } });
    viewer = await createViewer();
    await client.create(`${tonplane}/tonapis`, { ...ours('TonApi', 'main'), spec });
    await client.merge(`${tonplane}/tonapis/main/status`, {
      status: {
        readyReplicas: 1,
        replicas: 2,
        liteServers: '3/4',
        indexer: 'Live',
        conditions: [
          { type: 'Ready', status: 'False', reason: 'PodsUnavailable', message: '1 of 2 pods are ready', ...since },
          { type: 'Migrated', status: 'True', reason: 'UpToDate', message: 'the tables are there', ...since },
        ],
      },
    });
    for (const [name, api] of [
      ['customer', 'main'],
      ['stranger', 'other'],
    ] as const) {
      await client.create(`${tonplane}/tonapikeys`, {
        ...ours('TonApiKey', name),
        spec: { apiRef: { name: api }, plan: 'free' },
      });
    }
    await client.merge(`${tonplane}/tonapikeys/customer/status`, {
      status: { keyId: 'abc123', secretName: 'customer' },
    });
  }, 200_000);
  afterAll(async () => {
    await client?.close();
  });

  it('status shows TonApis with their reason, and with a name every condition', async () => {
    expect(await rowsOf('status')).toMatchObject([
      { namespace: space, name: 'main', network: 'mainnet', ready: 'False', reason: 'PodsUnavailable', pods: '1/2' },
    ]);
    const { text } = await run('status', 'main');
    expect(text).toMatch(/^NAMESPACE +NAME +NETWORK +READY +REASON +PODS +LITE-SERVERS/);
    expect(text).toMatch(/^Migrated +True +UpToDate +\S+ +the tables are there$/m);
    const whole = JSON.parse((await run('status', 'main', '-o', 'json')).text) as { kind: string; status: object };
    expect(whole).toMatchObject({ kind: 'TonApi', status: { liteServers: '3/4' } });
  });

  it('an unknown name, context and kubeconfig are errors that say what was expected', async () => {
    await expect(run('status', 'mian')).rejects.toThrow(`TonApi ${space}/mian: not found`);
    await expect(run('pods', 'mian')).rejects.toThrow(`TonApi ${space}/mian: not found`);
    await expect(run('status', '--context', 'elsewhere')).rejects.toThrow(
      /--context: expected one of .+, got elsewhere/,
    );
    await expect(runAs('/nowhere/config', 'status')).rejects.toThrow('kubeconfig: ENOENT');
  });

  it('keys shows the keys of a TonApi, by their public part', async () => {
    expect(await rowsOf('keys', 'main')).toMatchObject([
      { name: 'customer', api: 'main', plan: 'free', keyId: 'abc123', secret: 'customer', expires: null },
    ]);
    expect((await rowsOf('keys')).map(({ name }) => name)).toEqual(['customer', 'stranger']);
  });

  it('plan finds the flags of the operator in its Deployment, and asks for one of several', async () => {
    const deployments = `/apis/apps/v1/namespaces/${space}/deployments`;
    await client.create(deployments, operator('first'));
    const { text } = await run('plan');
    expect(text).toMatch(new RegExp(`^TonApi ${space}/main: \\d+ create, `));
    expect(text).toMatch(/^create Service main-api [^]*^missing: ConfigMap servers is not there/m);
    await client.create(deployments, operator('second'));
    await expect(run('plan')).rejects.toThrow(`plan: expected --operator with one of ${space}/first, ${space}/second`);
    expect((await run('plan', '--operator', `${space}/first`)).text).toBe(text);
    await client.create(deployments, operator('newer', '--flag-of-tomorrow'));
    await expect(run('plan', '--operator', `${space}/newer`)).rejects.toThrow(
      `Deployment ${space}/newer has flags of another release: Unknown option '--flag-of-tomorrow'`,
    );
    await expect(run('plan', '--operator', `${space}/fourth`)).rejects.toThrow(`Deployment ${space}/fourth: not found`);
  });

  it('plan without rights says which are expected', async () => {
    await expect(runAs(viewer, 'plan')).rejects.toThrow(
      'plan: expected --operator NAMESPACE/NAME, or the right to list',
    );
    await client.create(`/apis/apps/v1/namespaces/${space}/deployments`, operator('third'));
    await expect(runAs(viewer, 'plan', '--operator', `${space}/third`)).rejects.toThrow(
      'plan: expected the rights of the operator',
    );
  });

  describe.skipIf(skipLoudly(outward === undefined, { what: 'kubectl ton top', why: 'only loopback addresses here' }))(
    'with pods',
    () => {
      let pod: Server;
      const register = new Registry();
      const metrics = createHttpMetrics(register);
      const answer = (status: number): void => {
        metrics.begin();
        metrics.end({ operation: 'getMasterchainInfo', status, seconds: 0.002, bytes: 100 });
      };
      const page = async (): Promise<string> => {
        const text = await register.metrics();
        // Traffic between two reads.
        for (let index = 0; index < 5; index++) answer(index === 0 ? 503 : 200);
        return text;
      };

      beforeAll(async () => {
        for (let index = 0; index < 10; index++) answer(200);
        pod = createServer((request, response) => {
          if (request.url === '/metrics') void page().then((text) => response.end(text));
          else response.writeHead(404).end();
        });
        pod.listen(0, outward);
        await once(pod, 'listening');
        const { port } = pod.address() as AddressInfo;
        await createPod('main-api-1', 'api', port, outward);
        await createPod('main-api-2', 'api', port, undefined);
      });
      afterAll(() => void pod?.close());

      it('pods shows each with its component, and why it does not run', async () => {
        expect(await rowsOf('pods', 'main')).toMatchObject([
          { name: 'main-api-1', component: 'api', ready: true, state: 'Running', restarts: 3, version: '0.2.0' },
          { name: 'main-api-2', component: 'api', ready: false, state: 'ImagePullBackOff: no such image' },
        ]);
      });

      it('top counts requests between two reads of the metrics, through the API server', async () => {
        const [row, ...others] = await rowsOf('top', 'main', '--interval', '1');
        expect(others).toEqual([]);
        expect(row).toMatchObject({ pod: 'main-api-1', requests: 5, failures: 1, inFlight: 0, indexLagSeconds: null });
        expect(row?.['requestsPerSecond']).toBeGreaterThan(0);
        expect(row?.['p99Seconds']).toBeGreaterThan(0);
        const [whole] = await rowsOf('top', '--interval', '0');
        expect(whole).toMatchObject({ requests: 20, requestsPerSecond: null });
      });

      it('top names the missing right, and a pod that does not answer, and has exit code 1 for both', async () => {
        const forbidden = await runAs(viewer, 'top', '--interval', '0');
        expect(forbidden.problems).toEqual([
          expect.stringContaining(`namespace ${space}: expected the right to get pods/proxy`),
        ]);
        expect((await runAs(viewer, 'pods')).text).toContain('main-api-1');
        // Port 1 has no listener.
        await createPod('main-api-3', 'api', 1, outward);
        const { text, problems } = await run('top', '--interval', '0');
        expect(text).toContain('main-api-1');
        expect(problems).toEqual([expect.stringContaining(`pod ${space}/main-api-3: no metrics`)]);
      });
    },
  );
});
