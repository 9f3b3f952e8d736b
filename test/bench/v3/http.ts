import { createHash } from 'node:crypto';
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
import { firstLt, ltsOfTransaction, transactionsOfBlock } from './generated-index.ts';

/** Path of a request of a kind, by its number among them. */
type PathOf = (turn: number, index: Drawn) => string;

/** Transactions of the generated index. */
type Drawn = { readonly transactions: number };

/** The same numbers in each run. */
function drawn(turn: number, below: number): number {
  return createHash('sha256').update(`draw ${turn}`).digest().readUInt32BE() % below;
}

const ltOf = (place: number): bigint => firstLt + BigInt(place) * ltsOfTransaction;

/** Accounts with some hundred transactions and more. */
const BUSY_ACCOUNTS = 100;

function accountAt(place: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(place));
  return `0:${createHash('sha256').update(bytes).digest('hex')}`;
}

const messageAt = (place: number): string => createHash('sha256').update(`m${place}`).digest('hex');

/** Requests for other transactions each time: no cache has them. */
const drawnKinds: Readonly<Record<string, PathOf>> = {
  '10 drawn transactions': (turn, { transactions }) =>
    `transactions?limit=10&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 10))}`,
  '100 drawn transactions': (turn, { transactions }) =>
    `transactions?limit=100&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 100))}`,
  '100 transactions of a drawn block': (turn, { transactions }) =>
    `transactionsByMasterchainBlock?limit=100&seqno=${1 + drawn(turn, Math.floor(transactions / transactionsOfBlock))}`,
  '100 drawn transactions of an account': (turn, { transactions }) =>
    `transactions?limit=100&sort=asc&account=${accountAt(1 + (turn % BUSY_ACCOUNTS))}&start_lt=${ltOf(drawn(turn, Math.floor(transactions * 0.8)))}`,
  'transaction of a drawn message': (turn, { transactions }) =>
    `transactionsByMessage?msg_hash=${messageAt(drawn(turn, transactions))}`,
  '20 drawn messages': (turn, { transactions }) =>
    `messages?limit=20&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 20))}`,
  '20 drawn traces': (turn, { transactions }) =>
    `traces?limit=20&sort=asc&start_lt=${ltOf(drawn(turn, transactions - 200))}`,
};

/** Requests that are made each time come first: their code is then compiled for the others in every version. */
const kinds: Readonly<Record<string, string | PathOf>> = {
  ...drawnKinds,
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

/** CPU time of the service and of Postgres for a request through the listener, for 1 and 16 callers, and memory after all. */
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
        environment: { MALLOC_ARENA_MAX: '1' },
        flags: indexNodeOptions.split(' '),
      });
      contenders.push({ name, service, pool: new Pool(service.url, { connections: Math.max(...CALLERS) }) });
    }
    const results: BenchResult[] = [];
    const index = { transactions: await countTransactions(store) };
    for (const [kind, given] of Object.entries(kinds).filter(([name]) => wanted.test(name))) {
      const path = (turn: number): string => (typeof given === 'string' ? given : given(turn, index));
      for (const { pool } of contenders) await askAll(pool, path, { from: 0, to: WARM_UP }, Math.max(...CALLERS));
      for (let turn = 0; turn < CHECKED; turn++) await checkEqual(contenders, path(turn));
      for (const callers of CALLERS) results.push(...(await measureKind(store, contenders, { kind, path, callers })));
    }
    results.push(memoryAfter(contenders));
    return results;
  } finally {
    await stopCommits();
    for (const { pool, service } of contenders) await Promise.all([pool.close(), service.stop()]);
    await network.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Answers that are compared before a kind is measured. */
const CHECKED = 20;

async function countTransactions(store: Store): Promise<number> {
  const [last] = await store.read<{ lt: bigint }>('SELECT max(lt) AS lt FROM transactions');
  return Number((last!.lt - firstLt) / ltsOfTransaction) + 1;
}

async function measureKind(
  store: Store,
  contenders: readonly Contender[],
  { kind, path, callers }: { readonly kind: string; readonly path: (turn: number) => string; readonly callers: number },
): Promise<BenchResult[]> {
  const first = WARM_UP + CALLERS.indexOf(callers as 1) * ROUNDS * REQUESTS;
  const totals = new Map<string, Spent>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, service, pool } of contenders) {
      const before = await cpuOfAll(service, store);
      const from = first + round * REQUESTS;
      await askAll(pool, path, { from, to: from + REQUESTS }, callers);
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

/** Memory of the services after all measured kinds; Linux only. */
function memoryAfter(contenders: readonly Contender[]): BenchResult {
  const of = (name: string): number | undefined => {
    const pid = contenders.find((one) => one.name === name)?.service.pid;
    return pid === undefined ? undefined : rssMiB(pid);
  };
  const [value, before] = [of('now')!, of('before')];
  const baseline = before === undefined ? {} : { baseline: { name: 'before', value: before }, ratio: before / value };
  return { name: 'memory after these kinds', value, unit: 'MiB', goal: '<= 450 MiB', met: value <= 450, ...baseline };
}

function rssMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kib) / 1024;
}

/** Milliseconds for a request. */
const msOf = (nanoseconds: number): number => nanoseconds / 1e6 / (REQUESTS * ROUNDS);

const both = ({ server, postgres }: Spent): number => server + postgres;

async function askAll(
  pool: Pool,
  path: (turn: number) => string,
  { from, to }: { readonly from: number; readonly to: number },
  callers: number,
): Promise<void> {
  let turn = from;
  const call = async (): Promise<void> => {
    while (turn < to) await ask(pool, path(turn++));
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
