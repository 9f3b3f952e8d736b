import { setTimeout as sleep } from 'node:timers/promises';

import { startLoad } from '#test/support/load.ts';
import { startOperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

/** What a change of hot configuration, of a key and of the image means to callers of real pods. */
export type PodFigures = {
  /** From the edit of a plan until every pod reports it. */
  readonly configSeconds: number;
  /** From `disabled: true` until no pod takes the key. */
  readonly revokedSeconds: number;
  readonly rotation: { readonly asked: number; readonly refused: number };
  readonly rollout: { readonly asked: number; readonly failed: number };
  /** Containers that were started again by all of it. */
  readonly restarts: number;
};

const pollMs = 20;
const waitTimeoutMs = 300_000;
const pods = 2;

/** Requests in a row that must be refused: with two pods behind the Service each is asked several times. */
const refusedMin = 10;

export async function measurePods(requests: number): Promise<PodFigures> {
  const cluster = await startTonCluster();
  const operator = await startOperatorUnderTest(cluster.plane);
  try {
    const plan = { name: 'free', requestsPerSecond: 100_000, burst: 100_000 };
    const spec = { replicas: pods, plans: [plan, { ...plan, name: 'pro' }] };
    await cluster.client.create(paths.tonApis, cluster.tonApi('main', spec));
    await cluster.client.create(paths.tonApiKeys, {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApiKey',
      metadata: { name: 'customer' },
      spec: { apiRef: { name: 'main' }, plan: 'pro', rotation: { trigger: 'a' } },
    });
    await until(async () => (await conditionOf(cluster, paths.tonApis, 'main', 'Ready')) === 'Serving');
    await until(async () => (await conditionOf(cluster, paths.tonApiKeys, 'customer', 'Ready')) === 'InForce');
    const url = `${await cluster.forwarder.url('default', 'main-api', 'http')}/api/v2/getMasterchainInfo`;
    const configSeconds = await timeConfig(cluster, spec);
    const rotation = await rotate(cluster, url);
    const rollout = await rollOut(cluster, url, requests);
    const restarts = await restartsOf(cluster);
    return { configSeconds, rotation, rollout, restarts, revokedSeconds: await timeRevocation(cluster, url) };
  } finally {
    await operator.close();
    await cluster.stop();
  }
}

async function timeConfig(cluster: TonCluster, spec: { plans: readonly object[] }): Promise<number> {
  const before = (await cluster.client.get(`${paths.tonApis}/main`))['status'].configHash as string;
  const startedMs = performance.now();
  const plans = spec.plans.map((plan) => ({ ...plan, requestsPerSecond: 90_000 }));
  await cluster.client.merge(`${paths.tonApis}/main`, { spec: { plans } });
  await until(async () => {
    const { configHash } = (await cluster.client.get(`${paths.tonApis}/main`))['status'] as { configHash?: string };
    const isApplied = (await conditionOf(cluster, paths.tonApis, 'main', 'ConfigApplied')) === 'Applied';
    return isApplied && configHash !== undefined && configHash !== before;
  });
  return (performance.now() - startedMs) / 1000;
}

async function rotate(cluster: TonCluster, url: string): Promise<PodFigures['rotation']> {
  const old = await keyOf(cluster);
  let [asked, refused] = [0, 0];
  await cluster.client.merge(`${paths.tonApiKeys}/customer`, { spec: { rotation: { trigger: 'b' } } });
  let current = old;
  const deadline = Date.now() + waitTimeoutMs;
  for (let after = 0; after < 50; after += current === old ? 0 : 1) {
    if (Date.now() > deadline) throw new Error('the key did not change');
    current = await keyOf(cluster);
    asked += 1;
    if ((await ask(url, current)) !== 200) refused += 1;
  }
  return { asked, refused };
}

async function rollOut(cluster: TonCluster, url: string, requests: number): Promise<PodFigures['rollout']> {
  const load = startLoad(url, { clients: 4 });
  await cluster.client.merge(`${paths.tonApis}/main`, { spec: { image: { tag: 'next' } } });
  await until(async () => (await conditionOf(cluster, paths.tonApis, 'main', 'Progressing')) === 'RollingOut');
  await until(async () => (await conditionOf(cluster, paths.tonApis, 'main', 'Progressing')) === 'RolledOut');
  await until(async () => load.asked >= requests);
  await load.stop();
  // A figure above 0 is to be explained: the first of each kind, as it was answered.
  for (const failure of new Set(load.failures)) process.stderr.write(`failed: ${failure}\n`);
  return { asked: load.asked, failed: load.failures.length };
}

async function timeRevocation(cluster: TonCluster, url: string): Promise<number> {
  const key = await keyOf(cluster);
  await until(async () => (await ask(url, key)) === 200);
  const startedMs = performance.now();
  await cluster.client.merge(`${paths.tonApiKeys}/customer`, { spec: { disabled: true } });
  let lastTakenMs = startedMs;
  for (let refused = 0; refused < refusedMin;) {
    const taken = (await ask(url, key)) === 200;
    refused = taken ? 0 : refused + 1;
    if (taken) lastTakenMs = performance.now();
    if (lastTakenMs - startedMs > waitTimeoutMs) throw new Error('the key stays in force');
  }
  return (lastTakenMs - startedMs) / 1000;
}

async function restartsOf(cluster: TonCluster): Promise<number> {
  const all = await cluster.client.list(paths.pods);
  return all.reduce((sum, pod) => sum + ((pod['status'].containerStatuses?.[0]?.restartCount as number) ?? 0), 0);
}

async function keyOf(cluster: TonCluster): Promise<string> {
  const secret = await cluster.client.get(`${paths.secrets}/customer`);
  return Buffer.from(secret['data'].key as string, 'base64').toString();
}

async function ask(url: string, key: string): Promise<number> {
  const answer = await fetch(url, { headers: { 'x-api-key': key, connection: 'close' } });
  await answer.arrayBuffer();
  return answer.status;
}

async function conditionOf(cluster: TonCluster, path: string, name: string, type: string): Promise<string | undefined> {
  const found = (await cluster.client.get(`${path}/${name}`))['status']?.conditions ?? [];
  return (found as { type: string; reason: string }[]).find((condition) => condition.type === type)?.reason;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await sleep(pollMs);
  }
}
