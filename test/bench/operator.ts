import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { projectRoot } from '#test/style/sources.ts';
import { createClusterClient, type ClusterClient } from '#test/support/cluster-client.ts';
import { startControlPlane, type ControlPlane } from '#test/support/control-plane.ts';
import { applyDefinitions } from '#test/support/crds.ts';
import { pathOf, tonApi, tonApiPath } from '../support/operator-cluster.ts';

import { median, quantile, wantedOf, type Bench, type BenchResult } from './bench.ts';
import { measurePods, type PodFigures } from './operator/pods.ts';
import { startOperatorProcess, type OperatorProcess } from './operator/process.ts';

/** Of each TonApi of the fleet: those of the smallest, Redis included, and an autoscaler. */
const childrenEach = 10;
const autoscaling = { maxReplicas: 4, targetCPUUtilization: 70 };

/** How often the world is asked whether it is as it should be: the error of every time below. */
const pollMs = 5;

const waitTimeoutMs = 900_000;

/** Writes that took effect. */
const done = 'result="ok"';

type World = {
  readonly plane: ControlPlane;
  readonly client: ClusterClient;
  /** Who leads; a part that ends it puts the next one here. */
  operator: OperatorProcess;
};

/** How much of it: the targets name the full figures. */
type Extent = {
  readonly restSeconds: number;
  readonly kills: number;
  readonly frozenSeconds: number;
  readonly many: number;
  /** Longer than the time in which each TonApi is looked at once more: a shorter one may miss all of that work, or meet it. */
  readonly manyRestSeconds: number;
};

const full: Extent = { restSeconds: 600, kills: 20, frozenSeconds: 200, many: 1000, manyRestSeconds: 360 };
const quick: Extent = { restSeconds: 20, kills: 3, frozenSeconds: 20, many: 100, manyRestSeconds: 20 };

/** Parts on a control plane without nodes, in their order; each finds a hundred TonApis at rest. `pods` is a cluster of its own. */
const parts: Readonly<Record<string, (world: World, extent: Extent) => Promise<BenchResult[]>>> = {
  apply,
  drift,
  rest: atRest,
  kills: restarts,
  frozen: thawed,
  takeover,
  fleet,
};

export const bench: Bench = {
  about:
    'the operator on a real control plane: times from an edit to its effect, writes at rest, memory, takeover, and what callers of real pods see, against the targets of operator/README.md; --quick for less of each, --only with pods, apply, drift, rest, kills, frozen, takeover, fleet for parts',
  async run(options) {
    const wanted = wantedOf(options, ['pods', ...Object.keys(parts)]);
    const extent = options.includes('--quick') ? quick : full;
    execFileSync('npm', ['run', 'build'], { cwd: projectRoot, stdio: 'ignore' });
    const ofPods = wanted.includes('pods') ? podResults(await measurePods(5000)) : [];
    const chosen = Object.entries(parts).filter(([name]) => wanted.includes(name));
    if (chosen.length === 0) return ofPods;
    const plane = await startControlPlane({ controllers: false });
    const client = createClusterClient({ ...plane, token: plane.adminToken });
    await applyDefinitions(client);
    const world: World = { plane, client, operator: await startOperatorProcess(plane, 'first') };
    try {
      await until(async () => (await world.operator.metric('leader_election_master_status')) === 1);
      const results: BenchResult[] = [];
      if (!wanted.includes('apply')) await makeHundred(world);
      for (const [, measure] of chosen) results.push(...(await measure(world, extent)));
      return [...results, ...ofPods];
    } finally {
      world.operator.signal('SIGKILL');
      await client.close();
      await plane.stop();
    }
  },
};

function podResults(seen: PodFigures): BenchResult[] {
  const { configSeconds, revokedSeconds, rotation, rollout } = seen;
  return [
    figure('a plan changed: until every pod has it', configSeconds, 's', 5),
    figure('a key put out of force: until no pod takes it', revokedSeconds, 's', 2),
    figure(`requests refused of ${rotation.asked} while a key rotates`, rotation.refused, 'requests', 0),
    figure(`requests failed of ${rollout.asked} while an image is rolled out`, rollout.failed, 'requests', 0),
    figure('containers started again by all of it', seen.restarts, 'containers', 0),
  ];
}

/** One after the other, a hundred TonApis: from the request to the last child. */
async function apply(world: World): Promise<BenchResult[]> {
  // An API server reads the schema of each kind at the first apply of one: seconds that come once in its life.
  await make(world, 'warm');
  await world.client.delete(`${tonApiPath}/warm`);
  const times = await makeHundred(world);
  return [
    figure('apply of one TonApi to its last child, p50', median(times), 's', 0.5),
    figure('apply of one TonApi to its last child, p99', quantile(times, 0.99), 's', 2),
  ];
}

async function makeHundred(world: World): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < 100; at += 1) times.push(await make(world, `one-${at}`));
  return times;
}

/** Seconds until its last child is there. */
async function make({ client }: World, name: string): Promise<number> {
  const startedMs = performance.now();
  await client.create(tonApiPath, tonApi(name));
  await until(async () => (await client.find(`${pathOf('PodDisruptionBudget')}/${name}-api`)) !== undefined);
  return (performance.now() - startedMs) / 1000;
}

async function drift({ client }: World): Promise<BenchResult[]> {
  const times: number[] = [];
  for (let at = 0; at < 50; at += 1) {
    const path = `${pathOf('Deployment')}/one-${at}-api`;
    const startedMs = performance.now();
    await client.merge(path, { spec: { minReadySeconds: 77 } });
    await until(async () => (await client.get(path))['spec'].minReadySeconds === 5);
    times.push((performance.now() - startedMs) / 1000);
  }
  return [figure('foreign edit until it is undone, the longest of 50', Math.max(...times), 's', 2)];
}

async function atRest({ client, operator }: World, { restSeconds: seconds }: Extent): Promise<BenchResult[]> {
  await quiet(operator);
  const [writes, cpu] = [await operator.metric('ton_operator_writes_total', done), operator.cpuSeconds()];
  await sleep(seconds * 1000);
  const used = ((operator.cpuSeconds() - cpu) / seconds) * 100;
  const count = (await client.list(tonApiPath)).length;
  return [
    figure(
      `writes in ${seconds} s at rest with ${count} TonApis`,
      (await operator.metric('ton_operator_writes_total', done)) - writes,
      'writes',
      0,
    ),
    figure(`CPU at rest with ${count} TonApis`, used, '%', 2),
  ];
}

/** The API server ends and comes back; then an edit must take effect and nothing else be written. */
async function restarts({ plane, client, operator }: World, { kills: rounds }: Extent): Promise<BenchResult[]> {
  await quiet(operator);
  const times: number[] = [];
  const before = await operator.metric('ton_operator_writes_total', done);
  for (let round = 0; round < rounds; round += 1) {
    await plane.restartApiServer();
    const startedMs = performance.now();
    await client.merge(`${tonApiPath}/one-0`, { spec: { replicas: 10 + round } });
    const path = `${pathOf('Deployment')}/one-0-api`;
    await until(async () => (await client.get(path))['spec'].replicas === 10 + round);
    times.push((performance.now() - startedMs) / 1000);
  }
  await quiet(operator);
  const written = (await operator.metric('ton_operator_writes_total', done)) - before;
  return [
    figure(`API server killed ${rounds} times: ready until converged, the longest`, Math.max(...times), 's', 10),
    // Each edit is one write of the Deployment and one of the status.
    figure(`writes beyond those of the edits meanwhile`, Math.max(0, written - 2 * rounds), 'writes', 0),
  ];
}

/**
 * The API server says nothing for so long, its connections open all the while. A leader that cannot renew its Lease ends, as it must; the standby goes on
 * through it, and then an edit must take effect.
 */
async function thawed(world: World, { frozenSeconds: seconds }: Extent): Promise<BenchResult[]> {
  const { plane, client } = world;
  const standby = await startOperatorProcess(plane, 'standby');
  const thaw = plane.freezeApiServer();
  await sleep(seconds * 1000);
  thaw();
  const startedMs = performance.now();
  const path = `${pathOf('Deployment')}/one-3-api`;
  await until(async () => {
    await client.merge(`${tonApiPath}/one-3`, { spec: { replicas: 44 } });
    return (await client.get(path))['spec'].replicas === 44;
  });
  const name = `API server frozen for ${seconds} s: until it has converged`;
  const converged = (performance.now() - startedMs) / 1000;
  // The leader ends by itself, unless the freeze was shorter than its Lease.
  world.operator.signal('SIGTERM');
  world.operator = standby;
  return [figure(name, converged, 's', 10)];
}

async function takeover(world: World): Promise<BenchResult[]> {
  const { plane, client, operator: first } = world;
  await until(async () => (await first.metric('leader_election_master_status')) === 1);
  const path = `${pathOf('Deployment')}/one-1-api`;
  const edited = async (replicas: number): Promise<void> => {
    await client.merge(`${tonApiPath}/one-1`, { spec: { replicas } });
    await until(async () => (await client.get(path))['spec'].replicas === replicas);
  };
  const second = await startOperatorProcess(plane, 'second');
  let startedMs = performance.now();
  first.signal('SIGTERM');
  await edited(21);
  const ordered = (performance.now() - startedMs) / 1000;
  const third = await startOperatorProcess(plane, 'third');
  startedMs = performance.now();
  second.signal('SIGKILL');
  await edited(22);
  const crashed = (performance.now() - startedMs) / 1000;
  await quiet(third);
  world.operator = third;
  const written = await third.metric('ton_operator_writes_total', done);
  return [
    figure('leader ends by SIGTERM: until the next one writes', ordered, 's', 3),
    figure('leader is killed: until the next one writes', crashed, 's', 18),
    figure('writes of the new leader beyond that of the edit', written - 2, 'writes', 0),
  ];
}

async function fleet(world: World, { many: count, manyRestSeconds: seconds }: Extent): Promise<BenchResult[]> {
  const { client, operator } = world;
  const startedMs = performance.now();
  const names = Array.from({ length: count }, (_, at) => `fleet-${at}`);
  const waiting = [...names];
  const create = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await client.create(tonApiPath, tonApi(name, { autoscaling }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, create));
  await until(
    async () =>
      (await client.list(`${pathOf('PodDisruptionBudget')}?labelSelector=app.kubernetes.io/component=api`)).length >=
      count + 100,
  );
  const all = (performance.now() - startedMs) / 1000;
  await quiet(operator);
  const cpu = operator.cpuSeconds();
  await sleep(seconds * 1000);
  return [
    figure(`${count} TonApis of ${childrenEach} children: until all are made`, all, 's', 120),
    figure(`resident memory with ${count + 100} TonApis`, operator.rssMb(), 'MB', 220),
    figure(
      `CPU in ${seconds} s at rest with ${count + 100} TonApis`,
      ((operator.cpuSeconds() - cpu) / seconds) * 100,
      '%',
      2,
    ),
    await editAtStart(world, count),
  ];
}

/** A new leader has everything to look at: an edit made in that moment is not to wait for it. */
async function editAtStart(world: World, count: number): Promise<BenchResult> {
  const { plane, client, operator: before } = world;
  const next = await startOperatorProcess(plane, 'last');
  before.signal('SIGTERM');
  await until(async () => (await next.metric('leader_election_master_status')) === 1);
  const startedMs = performance.now();
  await client.merge(`${tonApiPath}/one-2`, { spec: { replicas: 33 } });
  await until(async () => (await client.get(`${pathOf('Deployment')}/one-2-api`))['spec'].replicas === 33);
  const seconds = (performance.now() - startedMs) / 1000;
  world.operator = next;
  return figure(`an edit while a new leader looks at ${count + 100} TonApis`, seconds, 's', 2);
}

/** Writes have stood still for a while. */
async function quiet(operator: OperatorProcess): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  let last = -1;
  while (Date.now() < deadline) {
    const now = await operator.metric('ton_operator_writes_total', done);
    if (now === last) return;
    last = now;
    await sleep(3000);
  }
  throw new Error('writes never stood still');
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await sleep(pollMs);
  }
}

function figure(name: string, value: number, unit: string, most: number): BenchResult {
  return { name, value, unit, goal: `<= ${most} ${unit}`, met: value <= most };
}
