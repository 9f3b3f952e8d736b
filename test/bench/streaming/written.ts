import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type BenchResult } from '../bench.ts';
import { quietAddress } from './orders.ts';
import { SERVER_CORE, startCallers } from './servers.ts';
import { openStoreScene, type StoreScene } from './store-scene.ts';
import { watch, type Watchers } from './watchers.ts';

/** Messages, each in blocks of its own. */
const MESSAGES = 100;

/** Watchers of each kind. The last of them counts. */
const WATCHERS = 10;

/** Milliseconds for a pending event. A message without one does not count. */
const PENDING_MS = 10_000;

/** Account of the connections that get no event. */
const quietAccount = quietAddress(0, 99_999);

/** Cores that nothing of the load runs on, apart from the pod: pod, callers, indexer with Postgres, network with API. */
const CORES = 4;

/** Says that processes of the load wait for each other. */
export function sharedCores(): string {
  const cores = availableParallelism();
  return cores >= CORES ? '' : `, load and pod on ${cores} shared cores`;
}

/** Times from a message and from a block to the callers of a pod that has many connections. The index is real. */
export async function written(connections: number): Promise<BenchResult[]> {
  const scene = await openStoreScene();
  const callers = startCallers();
  try {
    const pod = await scene.startPod(SERVER_CORE);
    const { port } = new URL(pod.url);
    await callers.ask({ kind: 'open', port: Number(port), connections, account: quietAccount }, 'opened');
    const addresses = [scene.sender];
    const final = await watch(pod.url, WATCHERS, { addresses, min_finality: 'finalized' });
    const pending = await watch(pod.url, WATCHERS, { addresses, min_finality: 'pending' });
    const times: Times[] = [];
    for (let message = 0; message < MESSAGES; message++) times.push(await measure(scene, final, pending));
    for (const watchers of [final, pending]) watchers.close();
    return figures(times, connections);
  } finally {
    await callers.close();
    await scene.close();
  }
}

type Times = { readonly pendingMs: number | undefined; readonly blockMs: number; readonly commitMs: number };

async function measure(scene: StoreScene, final: Watchers, pending: Watchers): Promise<Times> {
  const { network, api } = scene;
  const simulated = pending.arrived('pending', WATCHERS);
  const real = final.arrived('finalized', WATCHERS);
  const { status } = await api.post('sendBoc', { boc: scene.nextMessage().toString('base64') });
  if (status !== 200) throw new Error(`a message was refused: ${status}`);
  const acceptedMs = performance.now();
  const pendingAtMs = await Promise.race([simulated, sleep(PENDING_MS, undefined, { ref: false })]);
  await network.step();
  const madeMs = performance.now();
  const { seqno } = network.head().id;
  const committedMs = await scene.committed(seqno);
  const writtenMs = await real;
  // The rest of the trace.
  await network.step();
  await scene.committed(seqno + 1);
  return {
    pendingMs: pendingAtMs === undefined ? undefined : Math.max(0, pendingAtMs - acceptedMs),
    blockMs: writtenMs - madeMs,
    commitMs: writtenMs - committedMs,
  };
}

function figures(times: readonly Times[], connections: number): BenchResult[] {
  const behind = `, ${connections.toLocaleString('en')} connections${sharedCores()}`;
  const pendings = times.flatMap(({ pendingMs }) => pendingMs ?? []);
  return [
    ...both(
      `commit of a block -> last of ${WATCHERS} callers${behind}`,
      times.map(({ commitMs }) => commitMs),
      50,
    ),
    ...both(
      `block at the lite server -> last of ${WATCHERS} callers${behind}`,
      times.map(({ blockMs }) => blockMs),
      300,
    ),
    ...(pendings.length === 0
      ? []
      : both(`message accepted -> \`pending\` at the last of ${WATCHERS} callers${behind}`, pendings, 150)),
    { name: 'messages without a `pending` event', value: times.length - pendings.length, unit: 'messages' },
  ];
}

function both(name: string, timesMs: readonly number[], goalMs: number): BenchResult[] {
  const p99 = quantile(timesMs, 0.99);
  return [
    { name: `${name}, p50`, value: quantile(timesMs, 0.5), unit: 'ms' },
    { name: `${name}, p99`, value: p99, unit: 'ms', goal: `<= ${goalMs} ms`, met: p99 <= goalMs },
  ];
}
