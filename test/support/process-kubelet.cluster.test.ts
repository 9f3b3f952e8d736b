import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterClient, ClusterObject } from './cluster-client.ts';
import { startCluster, type Cluster } from './cluster.ts';
import { withoutControlPlane } from './control-plane-source.ts';
import { startLoad } from './load.ts';

/** A server of a pod: says who it is and what its files hold, ends its requests before it ends. */
const program = `
const { createServer } = require('node:http');
const { readFileSync } = require('node:fs');
const server = createServer((request, response) => {
  if (request.url === '/files') return response.end(process.argv.slice(1).map((path) => readFileSync(path, 'utf8')).join());
  if (request.url === '/peer') return fetch('http://web.default.svc/').then((peer) => peer.text()).then((text) => response.end('peer ' + text));
  setTimeout(() => response.end(process.env.POD_NAME), 5);
});
server.listen(8080, '0.0.0.0');
process.on('SIGTERM', () => server.close());
`;

const deployment = (version: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: { app: 'web', version } },
      spec: {
        terminationGracePeriodSeconds: 10,
        containers: [
          {
            name: 'web',
            image: 'example/web:1',
            args: ['/etc/web/text', '/etc/secret/word'],
            env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            ports: [{ name: 'http', containerPort: 8080 }],
            startupProbe: { tcpSocket: { port: 'http' }, periodSeconds: 1, failureThreshold: 30 },
            readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
            lifecycle: { preStop: { sleep: { seconds: 1 } } },
            volumeMounts: [
              { name: 'config', mountPath: '/etc/web' },
              { name: 'secret', mountPath: '/etc/secret' },
            ],
          },
        ],
        volumes: [
          { name: 'config', configMap: { name: 'web' } },
          {
            name: 'secret',
            projected: {
              sources: [{ secret: { name: 'web', optional: true, items: [{ key: 'word', path: 'word' }] } }],
            },
          },
        ],
      },
    },
  },
});

const job = (name: string, code: number) => ({
  metadata: { name },
  spec: {
    backoffLimit: 0,
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'job', image: 'any', command: ['node', '--eval', `process.exit(${code})`] }],
      },
    },
  },
});

describe.skipIf(await withoutControlPlane('the process kubelet', 'controllers', 'ours'))('the process kubelet', () => {
  let cluster: Cluster;
  let client: ClusterClient;
  const inDefault = '/api/v1/namespaces/default';
  const deployments = '/apis/apps/v1/namespaces/default/deployments';

  beforeAll(async () => {
    const images = [{ image: /^example\/web:/, entrypoint: ['node', '--eval', program, '--'] }];
    cluster = await startCluster({ images, refreshMs: 100 });
    client = cluster.client;
  });
  afterAll(() => cluster?.stop());

  const webPods = async (): Promise<readonly ClusterObject[]> =>
    client.list(`${inDefault}/pods?labelSelector=app%3Dweb`);
  const ready = async (): Promise<ClusterObject['status']> => (await client.get(`${deployments}/web`))['status'];
  const rolledOut = async (replicas: number): Promise<void> => {
    await expect
      .poll(ready, { interval: 100 })
      .toMatchObject({ replicas, readyReplicas: replicas, updatedReplicas: replicas });
  };

  it('holds a pod back until its ConfigMap is there, and says so', async () => {
    await client.create(deployments, deployment('1', 3));
    await client.create(`${inDefault}/services`, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    });
    await expect
      .poll(async () => (await webPods()).map((pod) => pod['status'].containerStatuses?.[0]?.state.waiting?.message), {
        timeout: 30_000,
      })
      .toEqual(Array(3).fill('configmap "web" not found'));
    await client.create(`${inDefault}/secrets`, { metadata: { name: 'web' }, stringData: { word: 'one' } });
    await client.create(`${inDefault}/configmaps`, { metadata: { name: 'web' }, data: { text: 'first' } });
    await rolledOut(3);
  });

  it('gives pods addresses that Services reach, and pods reach Services by name', async () => {
    const url = await cluster.forwarder.url('default', 'web', 'http');
    const names = new Set<string>();
    await expect
      .poll(async () => names.add(await (await fetch(url, { headers: { connection: 'close' } })).text()).size)
      .toBe(3);
    expect(await (await fetch(`${url}/peer`)).text()).toMatch(/^peer web-/);
  });

  it('brings changed files into running pods', async () => {
    await client.merge(`${inDefault}/configmaps/web`, { data: { text: 'second' } });
    await client.merge(`${inDefault}/secrets/web`, { stringData: { word: 'two' } });
    const url = await cluster.forwarder.url('default', 'web', 'http');
    await expect.poll(async () => (await fetch(`${url}/files`)).text()).toBe('second,two');
  });

  it('restarts a process that was killed and counts it', async () => {
    const [pod] = await webPods();
    cluster.nodes[0]?.signal('default', pod?.metadata.name ?? '', 'SIGKILL');
    await expect
      .poll(async () => (await client.get(`${inDefault}/pods/${pod?.metadata.name}`))['status'].containerStatuses[0], {
        timeout: 30_000,
      })
      .toMatchObject({ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 137 } } });
  });

  it('rolls out behind a Service without a failed request, also while the API server is killed', async () => {
    await rolledOut(3);
    const url = await cluster.forwarder.url('default', 'web', 'http');
    const load = startLoad(url, { clients: 2 });
    await client.merge(`${deployments}/web`, { spec: { template: { metadata: { labels: { version: '2' } } } } });
    await cluster.plane.restartApiServer();
    await expect
      .poll(async () => (await webPods()).map(({ metadata }) => metadata.labels?.['version']), {
        timeout: 60_000,
        interval: 200,
      })
      .toEqual(['2', '2', '2']);
    await load.stop();
    expect(load.asked).toBeGreaterThan(200);
    expect(load.failures).toEqual([]);
  });

  it('runs Jobs to their end, good or bad', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    await client.create(jobs, job('good', 0));
    await client.create(jobs, job('bad', 3));
    const statusOf = async (name: string) => (await client.get(`${jobs}/${name}`))['status'];
    await expect.poll(() => statusOf('good')).toMatchObject({ succeeded: 1 });
    await expect.poll(() => statusOf('bad')).toMatchObject({ failed: 1 });
  });

  it('says that an unknown image cannot be pulled', async () => {
    await client.create(`${inDefault}/pods`, {
      metadata: { name: 'unknown' },
      spec: { containers: [{ name: 'unknown', image: 'example/unknown:1' }] },
    });
    await expect
      .poll(async () => (await client.get(`${inDefault}/pods/unknown`))['status'])
      .toMatchObject({ phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] });
  });

  it('gives a pod a token that the API server knows it by', async () => {
    const ask = `
      const { readFileSync } = require('node:fs');
      const config = readFileSync(process.env.KUBECONFIG, 'utf8');
      const fileOf = (name) => readFileSync(new RegExp(name + ': (.+)').exec(config)[1], 'utf8');
      const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
      const headers = { authorization: 'Bearer ' + fileOf('tokenFile'), 'content-type': 'application/json' };
      require('node:https').request(
        { host, port, method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', headers, ca: fileOf('certificate-authority') },
        (response) => response.pipe(process.stdout),
      ).end('{}');`;
    await client.create(`${inDefault}/pods`, {
      metadata: { name: 'token' },
      spec: { restartPolicy: 'Never', containers: [{ name: 'token', image: 'any', command: ['node', '--eval', ask] }] },
    });
    await expect
      .poll(() => cluster.nodes[0]?.logOf('default', 'token'))
      .toContain('system:serviceaccount:default:default');
  });

  it('leaves no process behind a deleted Deployment', async () => {
    await client.delete(`${deployments}/web`);
    await expect.poll(webPods).toEqual([]);
    await expect.poll(() => cluster.nodes[0]?.pods().filter(({ name }) => name.startsWith('web-'))).toEqual([]);
  });
});
