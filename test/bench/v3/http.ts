import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Store } from '#service/store/store.ts';
import { startNetwork } from '#test/support/api-processes.ts';
import type { BenchResult } from '../bench.ts';
import { compareAnswers } from './compared-answers.ts';
import {
  askAll,
  cpuWhile,
  inTurn,
  rssMiB,
  startContenders,
  stopContenders,
  type Contender,
  type Spent,
} from './contenders.ts';
import { firstLt, ltsOfTransaction } from './generated-index.ts';
import { httpKinds } from './http-kinds.ts';
import { kindOf, measureMix, pathOfMix, readMix, type Kind } from './mixes.ts';
import type { Requests } from './requests.ts';

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
  /** Requests of the bench without HTTP, which mixes and the comparison of answers draw from too. */
  readonly requests: readonly Requests[];
  /** Mixes to measure in place of kinds, each for so many minutes. */
  readonly mixes: readonly string[];
  readonly minutes: number;
  /** Answers to compare with those of the baseline, in place of measuring. */
  readonly compared: number;
};

/** Starts both versions, and ends them after the work. */
export type Serve = <T>(work: (contenders: readonly Contender[]) => Promise<T>) => Promise<T>;

/** Runs a network, and gives `work` a way to start the versions of the service over it. */
export async function withNetwork<T>(
  { url, baseline, connections }: { readonly connections: number } & Pick<HttpBenchOptions, 'url' | 'baseline'>,
  work: (serve: Serve) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-v3-http-'));
  const [manifest, uri] = [join(folder, 'tonapi.yaml'), join(folder, 'uri')];
  const network = await startNetwork();
  const postgres = { secretRef: { name: 'database' } };
  writeFileSync(manifest, network.manifest({ surfaces: ['v2', 'v3'], postgres }));
  writeFileSync(uri, url);
  const serve: Serve = async (measure) => {
    const contenders = await startContenders({ manifest, uri, baseline, connections });
    try {
      return await measure(contenders);
    } finally {
      await stopContenders(contenders);
    }
  };
  try {
    return await work(serve);
  } finally {
    await network.stop();
    rmSync(folder, { recursive: true });
  }
}

/** CPU of the service and of Postgres for a request through the listener, and memory; or a comparison of answers. */
export async function measureHttp(store: Store, options: HttpBenchOptions): Promise<BenchResult[]> {
  const stopCommits = startCommits(store, options.commits);
  try {
    return await withNetwork({ ...options, connections: Math.max(...CALLERS) }, (serve) =>
      measureIn(serve, store, options),
    );
  } finally {
    await stopCommits();
  }
}

/** All kinds of requests: those of the bench through the listener, and those of the bench without it. */
export async function allKinds(store: Store, requests: readonly Requests[]): Promise<readonly Kind[]> {
  return [...httpKinds({ transactions: await countTransactions(store) }), ...requests.map(kindOf)];
}

async function measureIn(
  serve: Serve,
  store: Store,
  { wanted, requests, mixes, minutes, compared }: HttpBenchOptions,
): Promise<BenchResult[]> {
  const all = await allKinds(store, requests);
  const own = all.slice(0, all.length - requests.length);
  if (compared > 0) return serve((contenders) => compareAnswers(contenders, all, compared));
  const results: BenchResult[] = [];
  for (const mix of mixes) {
    const path = pathOfMix(readMix(mix), all);
    results.push(...(await serve((contenders) => measureMix(store, contenders, { mix, path, minutes }))));
  }
  if (mixes.length > 0) return results;
  return serve(async (contenders) => {
    for (const { name, path } of own.filter((kind) => wanted.test(kind.name))) {
      for (const { pool } of contenders) await askAll(pool, path, { from: 0, to: WARM_UP }, Math.max(...CALLERS));
      // Their costs say nothing if versions give different answers.
      await compareAnswers(contenders, [{ name, path }], CHECKED);
      for (const callers of CALLERS) {
        results.push(...(await measureKind(store, contenders, { kind: name, path, callers })));
      }
    }
    results.push(memoryAfter(contenders));
    return results;
  });
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
    for (const { name, service, pool } of inTurn(contenders, round)) {
      const from = first + round * REQUESTS;
      const spent = await cpuWhile(service, store, () => askAll(pool, path, { from, to: from + REQUESTS }, callers));
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

/** Memory of the services after all measured kinds. */
function memoryAfter(contenders: readonly Contender[]): BenchResult {
  const [value, before] = [rssMiB(contenders[0]!.service), contenders[1] && rssMiB(contenders[1].service)];
  const baseline = before === undefined ? {} : { baseline: { name: 'before', value: before }, ratio: before / value };
  return { name: 'memory after these kinds', value, unit: 'MiB', goal: '<= 450 MiB', met: value <= 450, ...baseline };
}

/** Milliseconds for a request. */
const msOf = (nanoseconds: number): number => nanoseconds / 1e6 / (REQUESTS * ROUNDS);

const both = ({ server, postgres }: Spent): number => server + postgres;

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
