import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import type { Store } from '#service/store/store.ts';
import { startNetwork } from '#test/support/api-processes.ts';
import { projectRoot } from '#test/support/service-flags.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import type { BenchResult } from '../bench.ts';

/** Requests that are made each time come first: their code is then compiled for the others in every version. */
const kinds: Readonly<Record<string, string>> = {
  '20 transactions of an asked workchain': 'transactions?limit=20&workchain=0',
  '20 messages': 'messages?limit=20',
  masterchainInfo: 'masterchainInfo',
  '20 blocks': 'blocks?limit=20',
  '20 accounts by balance': 'topAccountsByBalance?limit=20',
  '10 transactions': 'transactions?limit=10',
  '20 transactions': 'transactions?limit=20',
  '100 transactions': 'transactions?limit=100',
  '20 actions': 'actions?limit=20',
};

const CALLERS = [1, 16] as const;

/** Requests of a kind in a round, to each server. */
const REQUESTS = 400;

/** The servers take turns, so that the machine's other work meets all of them. */
const ROUNDS = 4;

/** Before the first round of a kind: plans and caches exist, and code is compiled. */
const WARM_UP = 600;

export type HttpBenchOptions = {
  /** URL of the Postgres with the index. */
  readonly url: string;
  /** Folder of another version of the project, with `node_modules`: the baseline. */
  readonly baseline?: string | undefined;
  /** Transactions that another process commits in a second. */
  readonly commits: number;
  /** Kinds to measure. */
  readonly wanted: RegExp;
};

/** A service under load. */
type Contender = { readonly name: string; readonly service: ServiceProcess; readonly pool: Pool };

/** Nanoseconds of CPU. */
type Spent = { readonly server: number; readonly postgres: number };

/** CPU time of the service and of Postgres for a request through the listener, for 1 and 16 callers. */
export async function measureHttp(
  store: Store,
  { url, baseline, commits, wanted }: HttpBenchOptions,
): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-v3-http-'));
  const [manifest, uri] = [join(folder, 'tonapi.yaml'), join(folder, 'uri')];
  const network = await startNetwork();
  const postgres = { secretRef: { name: 'database' } };
  writeFileSync(manifest, network.manifest({ surfaces: ['v2', 'v3'], postgres }));
  writeFileSync(uri, url);
  const contenders: Contender[] = [];
  const stopCommits = startCommits(store, commits);
  try {
    const folders = { now: projectRoot, ...(baseline !== undefined && { before: baseline }) };
    for (const [name, root] of Object.entries(folders)) {
      const service = await startService(['api', '--manifest', manifest, '--postgres-file', uri], {
        entry: join(root, 'service/main.ts'),
        environment: { NODE_OPTIONS: indexNodeOptions, MALLOC_ARENA_MAX: '1' },
      });
      contenders.push({ name, service, pool: new Pool(service.url, { connections: Math.max(...CALLERS) }) });
    }
    const results: BenchResult[] = [];
    for (const [kind, path] of Object.entries(kinds).filter(([name]) => wanted.test(name))) {
      for (const { pool } of contenders) await askAll(pool, path, WARM_UP, Math.max(...CALLERS));
      await checkEqual(contenders, path);
      for (const callers of CALLERS) results.push(...(await measureKind(store, contenders, { kind, path, callers })));
    }
    return results;
  } finally {
    await stopCommits();
    for (const { pool, service } of contenders) await Promise.all([pool.close(), service.stop()]);
    await network.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measureKind(
  store: Store,
  contenders: readonly Contender[],
  { kind, path, callers }: { readonly kind: string; readonly path: string; readonly callers: number },
): Promise<BenchResult[]> {
  const totals = new Map<string, Spent>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, service, pool } of contenders) {
      const before = await cpuOfAll(service, store);
      await askAll(pool, path, REQUESTS, callers);
      const spent = spentSince(before, await cpuOfAll(service, store), service);
      const { server, postgres } = totals.get(name) ?? { server: 0, postgres: 0 };
      totals.set(name, { server: server + spent.server, postgres: postgres + spent.postgres });
    }
  }
  const [now, before] = [totals.get('now')!, totals.get('before')];
  const parts = { server: (spent: Spent) => spent.server, Postgres: (spent: Spent) => spent.postgres, both };
  const results = Object.entries(parts).map(([part, of]): BenchResult => ({
    name: `${kind}, ${callers === 1 ? '1 caller' : `${callers} callers`}, ${part}`,
    value: msOf(of(now)),
    unit: 'ms CPU',
    ...(before && { baseline: { name: 'before', value: msOf(of(before)) }, ratio: of(before) / of(now) }),
  }));
  const texts = results.map(({ value, baseline }) => `${value.toFixed(3)} (${baseline?.value.toFixed(3) ?? ''})`);
  process.stderr.write(`${kind}, ${callers}: ${texts.join(', ')}\n`);
  return results;
}

/** Milliseconds for a request. */
const msOf = (nanoseconds: number): number => nanoseconds / 1e6 / (REQUESTS * ROUNDS);

const both = ({ server, postgres }: Spent): number => server + postgres;

async function askAll(pool: Pool, path: string, requests: number, callers: number): Promise<void> {
  let left = requests;
  const call = async (): Promise<void> => {
    while (left-- > 0) await ask(pool, path);
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function ask(pool: Pool, path: string): Promise<Buffer> {
  const { statusCode, body } = await pool.request({ path: `/api/v3/${path}`, method: 'GET' });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (statusCode !== 200) throw new Error(`${path}: status ${statusCode}: ${bytes.toString()}`);
  return bytes;
}

/** All versions must give the same answer, else their costs say nothing. */
async function checkEqual(contenders: readonly Contender[], path: string): Promise<void> {
  const answers = await Promise.all(contenders.map(({ pool }) => ask(pool, path)));
  if (answers.some((answer) => !answer.equals(answers[0]!))) throw new Error(`${path}: the answers differ`);
}

/** A row outside of the index: each commit is a new state of the database, as with an indexer. */
function startCommits(store: Store, perSecond: number): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async (): Promise<void> => {
    if (perSecond === 0) return;
    while (!signal.aborted) {
      await store.transaction(({ query }) => query('SELECT pg_current_xact_id()'));
      await sleep(1000 / perSecond);
    }
  };
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}

/** Nanoseconds of CPU by process: of the service and of Postgres. */
async function cpuOfAll({ pid }: ServiceProcess, store: Store): Promise<ReadonlyMap<number, number>> {
  const backends = await store.read<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  return new Map([pid!, ...backends.map((backend) => backend.pid)].map((each) => [each, cpuOf(each)]));
}

/** Counts processes that live at the end: a backend that ended was idle. */
function spentSince(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  { pid }: ServiceProcess,
): Spent {
  const spent = [...after].map(([each, total]) => [each, total - (before.get(each) ?? 0)] as const);
  const sum = (parts: typeof spent): number => parts.reduce((total, [, part]) => total + part, 0);
  return {
    server: sum(spent.filter(([each]) => each === pid)),
    postgres: sum(spent.filter(([each]) => each !== pid)),
  };
}

/** Nanoseconds of CPU of a process's threads; Linux only. A process that ended counts as 0. */
function cpuOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
      .reduce((sum, each) => sum + each, 0);
  } catch {
    return 0;
  }
}
