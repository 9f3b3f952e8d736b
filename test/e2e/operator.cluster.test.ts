import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAuditLog, type AuditedRequest } from '#test/support/audit-log.ts';
import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { startLoad } from '#test/support/load.ts';
import { createMetricsApi, type MetricsApi } from '#test/support/metrics-api.ts';
import { startTcpRelay, type TcpRelay } from '#test/support/tcp-relay.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';
import { countOf, notQuick } from '#test/support/volume.ts';

const patience = { timeout: 240_000, interval: 200 } as const;

/** A test of this suite waits for pods that start on a busy machine. */
const minutes = 500_000;

/** Three pods one after the other, each ready for five seconds before the next, while callers keep the machine busy. */
const rolloutPatience = { timeout: 300_000, interval: 500 } as const;

/** A revoked key is refused within two seconds (operator/README.md#keys); the rest is for a busy machine, far below the delay of files. */
const revokedWithinMs = 8000;

/** Kills of the API server in a row (operator/README.md#targets). */
const kills = countOf({ quick: 1, full: 20 });

/** Callers leave the cores to the pods that start: some hundred requests a second in all. */
const callerPauseMs = 5;

/** More than the load of a test can ask for, however quick the machine. */
const free = { name: 'free', requestsPerSecond: 100_000, burst: 100_000 };
const pro = { name: 'pro', requestsPerSecond: 1000, burst: 1000 };
const trickle = { name: 'trickle', requestsPerSecond: 5, burst: 5 };

/** CPU of a pod that an autoscaler leaves alone: 80 % of the 250 m that it asks for. */
const calmMilli = 200;

const system = 'ton-system';
const account = `system:serviceaccount:${system}:ton-tonplane`;
const missing =
  withoutHelm('the story of an API') || (await withoutControlPlane('the story of an API', 'ours', 'controllers'));

describe.skipIf(missing)('the story of an API', () => {
  let cluster: TonCluster;
  let metrics: MetricsApi;
  let second: TcpRelay;
  let helm: Helm;
  let url: string;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-story-'));
  const audit = createAuditLog(folder);
  beforeAll(async () => {
    cluster = await startTonCluster({ nodes: 2, defined: false, apiServerFlags: audit.apiServerFlags });
    metrics = await createMetricsApi(cluster.client);
    metrics.setCpu(calmMilli);
    second = await startTcpRelay(String(cluster.network.liteServer['address']));
    helm = createHelm(cluster.plane.kubeconfigPath);
  }, minutes);
  afterAll(async () => {
    helm?.close();
    await metrics?.close();
    await cluster?.stop();
    await second?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const main = `${paths.tonApis}/main`;
  const change = (spec: object): Promise<ClusterObject> => cluster.client.merge(main, { spec });
  const reason = async (type: string): Promise<string | undefined> => (await cluster.conditions('main'))[type]?.reason;
  const status = async (): Promise<Record<string, unknown>> => (await cluster.client.get(main))['status'];
  const apiPods = async (): Promise<readonly ClusterObject[]> =>
    (await cluster.client.list(`${paths.pods}?labelSelector=app.kubernetes.io/component=api`)).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
  const podNames = async (): Promise<string[]> => (await apiPods()).map(({ metadata }) => metadata.name).toSorted();
  const readyReplicas = async (): Promise<unknown> =>
    (await cluster.client.get(`${paths.deployments}/main-api`))['status'].readyReplicas;
  const restarts = async (): Promise<number> =>
    (await apiPods()).reduce((sum, pod) => sum + (pod['status'].containerStatuses?.[0]?.restartCount ?? 0), 0);
  const ask = async (key?: string): Promise<number> => {
    const headers = key === undefined ? {} : { 'x-api-key': key };
    const answer = await fetch(`${url}/api/v2/getMasterchainInfo`, { headers: { ...headers, connection: 'close' } });
    await answer.arrayBuffer();
    return answer.status;
  };
  /** Every pod has what the newest generation says. */
  const inForce = async (): Promise<string> => {
    const { metadata, status: now } = await cluster.client.get(main);
    if (metadata.generation !== now.observedGeneration) return 'not looked at';
    return (await reason('ConfigApplied')) ?? '';
  };
  const keyOf = async (name: string): Promise<string> => {
    const secret = await cluster.client.get(`${paths.secrets}/${name}`);
    return Buffer.from(secret['data'].key, 'base64').toString();
  };
  const keyReason = async (name: string): Promise<string | undefined> => {
    const found = (await cluster.client.get(`${paths.tonApiKeys}/${name}`))['status']?.conditions ?? [];
    return (found as { type: string; reason: string }[]).find(({ type }) => type === 'Ready')?.reason;
  };
  const makeKey = (name: string, spec: object): Promise<ClusterObject> =>
    cluster.client.create(paths.tonApiKeys, {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApiKey',
      metadata: { name },
      spec: { apiRef: { name: 'main' }, ...spec },
    });
  /** What happens while callers ask, of whom none may notice. */
  const unnoticed = async (happening: () => Promise<void>, askedMin = 1000): Promise<void> => {
    const load = startLoad(`${url}/api/v2/getMasterchainInfo`, { clients: 4, pauseMs: callerPauseMs });
    try {
      await happening();
      await expect.poll(async () => load.asked, rolloutPatience).toBeGreaterThanOrEqual(askedMin);
    } finally {
      await load.stop();
    }
    expect(load.failures).toEqual([]);
  };
  /** Requests of the operators that change something, without those that say who leads. */
  const writes = (): readonly AuditedRequest[] =>
    audit
      .requests(account)
      .filter(({ verb, resource }) => !['get', 'list', 'watch'].includes(verb) && !resource.endsWith('/leases'));
  const deploymentWrites = (): number => writes().filter(({ resource }) => resource === 'apps/deployments').length;
  const configText = async (): Promise<string> =>
    JSON.stringify((await cluster.client.get(`${paths.configMaps}/main-config`))['data']);
  const leader = async (): Promise<string> =>
    (await cluster.client.get(`/apis/coordination.k8s.io/v1/namespaces/${system}/leases/ton-operator`))['spec']
      .holderIdentity;

  it(
    'begins with the chart, which brings the definitions and two operators under their own account',
    async () => {
      const at = ['--namespace', system, '--create-namespace'];
      await helm.run('install', 'ton', join(chartsFolder, 'tonplane'), ...at, '--wait', '--timeout', '4m');
      expect(await cluster.client.list(paths.tonApis)).toEqual([]);
      await expect.poll(leader, patience).toMatch(/^ton-tonplane-/);
    },
    minutes,
  );

  it(
    'makes a TonApi of three pods Ready, that answers callers',
    async () => {
      const { liteServer } = cluster.network;
      const spec = {
        liteServers: [liteServer, { ...liteServer, name: 'second', address: second.address }],
        plans: [free, pro, trickle],
        anonymousPlan: 'free',
        autoscaling: {
          provider: 'HPA',
          minReplicas: 3,
          maxReplicas: 4,
          targetCPUUtilization: 80,
          scaleDownStabilization: '1s',
        },
      };
      await cluster.client.create(paths.tonApis, cluster.tonApi('main', spec));
      await expect.poll(() => reason('Ready'), patience).toBe('Serving');
      await expect.poll(readyReplicas, patience).toBe(3);
      await expect.poll(async () => (await status())['liteServers'], patience).toBe('2/2');
      url = await cluster.forwarder.url('default', 'main-api', 'http');
      expect(await ask()).toBe(200);
    },
    minutes,
  );

  it(
    'gives customers keys that every pod knows',
    async () => {
      await makeKey('first', { plan: 'pro', rotation: { overlap: '1h', trigger: 'a' } });
      await makeKey('second', { plan: 'trickle' });
      await expect.poll(() => keyReason('first'), patience).toBe('InForce');
      await expect.poll(() => keyReason('second'), patience).toBe('InForce');
      const key = await keyOf('first');
      expect(await Promise.all(Array.from({ length: 6 }, () => ask(key)))).toEqual(Array(6).fill(200));
      expect(await ask(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBe(401);
    },
    minutes,
  );

  it(
    'holds a plan over all pods together',
    async () => {
      const key = await keyOf('second');
      const answers: number[] = [];
      const startedMs = performance.now();
      while (performance.now() - startedMs < 4000) answers.push(...(await Promise.all([ask(key), ask(key), ask(key)])));
      const seconds = (performance.now() - startedMs) / 1000;
      const served = answers.filter((answer) => answer === 200).length;
      expect(answers).toContain(429);
      // The burst, five a second, and what pods may lease ahead of each other.
      expect(served).toBeLessThanOrEqual(5 + 5 * seconds + 5);
      expect(served).toBeGreaterThanOrEqual(5 * seconds - 5);
    },
    minutes,
  );

  it(
    'rotates a key without refusing one request',
    async () => {
      const old = await keyOf('first');
      let current = old;
      const outcomes: number[] = [];
      const stopped = new AbortController();
      const customer = (async () => {
        while (!stopped.signal.aborted) {
          current = await keyOf('first');
          outcomes.push(await ask(current));
        }
      })();
      await cluster.client.merge(`${paths.tonApiKeys}/first`, { spec: { rotation: { trigger: 'b' } } });
      await expect.poll(() => keyOf('first'), patience).not.toBe(old);
      await expect.poll(() => keyReason('first'), patience).toBe('InForce');
      stopped.abort();
      await customer;
      expect(outcomes.filter((answer) => answer !== 200)).toEqual([]);
      expect(await ask(old)).toBe(200);
      expect(current).not.toBe(old);
    },
    minutes,
  );

  it(
    'takes over a change of plans without restarting a pod',
    async () => {
      const before = await podNames();
      await change({
        plans: [{ ...free, requestsPerSecond: 90_000 }, pro, { ...trickle, requestsPerSecond: 900, burst: 900 }],
      });
      await expect.poll(inForce, patience).toBe('Applied');
      const key = await keyOf('second');
      expect(await Promise.all(Array.from({ length: 30 }, () => ask(key)))).toEqual(Array(30).fill(200));
      expect({ pods: await podNames(), restarts: await restarts() }).toEqual({ pods: before, restarts: 0 });
    },
    minutes,
  );

  it(
    'puts a key out of force within seconds, and in force again',
    async () => {
      const key = await keyOf('second');
      const revokedMs = performance.now();
      await cluster.client.merge(`${paths.tonApiKeys}/second`, { spec: { disabled: true } });
      await expect.poll(() => ask(key), { timeout: revokedWithinMs, interval: 20 }).toBe(401);
      // Ten in a row reach each of the three pods.
      const answers: number[] = [];
      while (answers.slice(-10).filter((answer) => answer === 401).length < 10) {
        answers.push(await ask(key));
        expect(performance.now() - revokedMs).toBeLessThan(revokedWithinMs);
      }
      await expect.poll(() => keyReason('second'), patience).toBe('Disabled');
      await cluster.client.merge(`${paths.tonApiKeys}/second`, { spec: { disabled: false } });
      await expect.poll(() => keyReason('second'), patience).toBe('InForce');
      await expect.poll(() => ask(key), patience).toBe(200);
      await cluster.client.delete(`${paths.tonApiKeys}/second`);
      await expect.poll(() => ask(key), patience).toBe(401);
      await expect.poll(() => cluster.client.find(`${paths.tonApiKeys}/second`), patience).toBeUndefined();
    },
    minutes,
  );

  it(
    'rolls a new image out without failing a request',
    async () => {
      const before = await podNames();
      await unnoticed(async () => {
        await change({ image: { tag: 'next' } });
        await expect.poll(() => reason('Progressing'), patience).toBe('RollingOut');
        await expect.poll(() => reason('Progressing'), rolloutPatience).toBe('RolledOut');
      }, 5000);
      expect((await podNames()).filter((name) => before.includes(name))).toEqual([]);
    },
    2 * rolloutPatience.timeout,
  );

  it(
    'fails no request while the autoscaler adds pods and takes them away, and is not fought over',
    { timeout: minutes, ...notQuick() },
    async () => {
      const before = deploymentWrites();
      await unnoticed(async () => {
        metrics.setCpu(2 * calmMilli);
        await expect.poll(readyReplicas, rolloutPatience).toBe(4);
        metrics.setCpu(calmMilli / 10);
        await expect.poll(readyReplicas, rolloutPatience).toBe(3);
      });
      expect(deploymentWrites()).toBe(before);
    },
  );

  it(
    'fails no request when a lite server is killed, and says in its status how many are left',
    { timeout: minutes, ...notQuick() },
    async () => {
      await unnoticed(async () => {
        second.cut();
        await expect.poll(async () => (await status())['liteServers'], rolloutPatience).toBe('1/2');
      });
      expect(await reason('Ready')).toBe('Serving');
    },
  );

  it('writes nothing once everything is as it must be', { timeout: minutes, ...notQuick() }, async () => {
    await expect.poll(() => reason('Ready'), patience).toBe('Serving');
    // The last pods of before leave, and their events with them.
    await new Promise((resolve) => setTimeout(resolve, 5000));
    const before = writes().length;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    expect(writes().slice(before)).toEqual([]);
  });

  it('has needed no right that the chart does not give', () => {
    const requests = audit.requests(account);
    expect(requests.length).toBeGreaterThan(100);
    expect(requests.filter((request) => request.status === 403)).toEqual([]);
  });

  it("goes on when the operators' leader is killed", { timeout: minutes, ...notQuick() }, async () => {
    const killed = await leader();
    await unnoticed(async () => {
      for (const node of cluster.nodes) node.signal(system, killed, 'SIGKILL');
      await change({ plans: [{ ...free, requestsPerSecond: 80_000 }, pro] });
      await expect.poll(inForce, patience).toBe('Applied');
    });
  });

  it(
    `goes on when the API server is killed ${kills} times`,
    async () => {
      await unnoticed(async () => {
        for (let round = 1; round <= kills; round += 1) {
          await cluster.plane.restartApiServer();
          const requestsPerSecond = 70_000 + round;
          await change({ plans: [{ ...free, requestsPerSecond }, pro] });
          await expect.poll(configText, patience).toContain(String(requestsPerSecond));
        }
        await expect.poll(inForce, patience).toBe('Applied');
      });
      expect(await restarts()).toBe(0);
      await expect.poll(() => reason('Ready'), patience).toBe('Serving');
    },
    kills * 30_000,
  );

  it(
    'leaves nothing behind but what the user owns',
    async () => {
      await cluster.client.delete(main);
      const left = async (): Promise<string[]> => {
        const kinds = ['deployments', 'services', 'configMaps', 'secrets', 'pods'] as const;
        const found = await Promise.all(kinds.map((kind) => cluster.client.list(paths[kind])));
        return found.flatMap((objects) => objects.map(({ metadata }) => metadata.name)).toSorted();
      };
      await expect.poll(left, patience).toEqual(['first', 'kube-root-ca.crt', 'kubernetes', 'redis']);
      await cluster.client.delete(`${paths.tonApiKeys}/first`);
      await expect.poll(left, patience).toEqual(['kube-root-ca.crt', 'kubernetes', 'redis']);
    },
    minutes,
  );
});
