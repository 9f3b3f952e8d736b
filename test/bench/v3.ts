import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import { setApiGcFlags, setGcFlags } from '#service/main/v8-flags.ts';
import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { StoreError } from '#service/store/errors.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { quantile, type Bench, type BenchResult } from './bench.ts';
import { openStore, serverSettings } from './indexing/pipeline.ts';
import { generateActionAccounts } from './v3/generated-action-accounts.ts';
import { accountsOf, generateIndex } from './v3/generated-index.ts';
import { generateContractStates } from './v3/generated-contract-states.ts';
import { generateTokens, type TokenCounts } from './v3/generated-tokens.ts';
import { generateMeaning } from './v3/generated-meaning.ts';
import { TRACE_FORMAT_VERSION } from '#service/v3/rendering/stored-trace.ts';
import { generateWrittenTraces } from './v3/generated-written-traces.ts';
import { createCaller, type Caller } from './v3/caller.ts';
import { meaningRequestsOf } from './v3/meaning-requests.ts';
import { measureHttp } from './v3/http.ts';
import { requestsOf, type Requests } from './v3/requests.ts';
import { tokenRequestsOf } from './v3/token-requests.ts';

const TRANSACTIONS = 5_000_000;
const WALLETS = 1_000_000;
const ITEMS = 500_000;
const P99_MS_GOAL = 20;
/** Requests of a kind. */
const TURNS = 200;
/** So often each is asked again: of 600 a p99 is told by the seven slowest, of 200 by three, which one busy moment of the machine makes. */
const ROUNDS_AGAIN = 3;

/**
 * Times of one kind of request. All are asked once, and then in three more rounds, for which the goal is: disks differ, and what is asked for often is in memory. The first
 * time is told beside it.
 */
async function measure(call: Caller, { name, query }: Requests, turns: number): Promise<BenchResult[]> {
  const operation = name.split(' ')[0] ?? '';
  const askAll = async (rounds: number): Promise<{ readonly p50: number; readonly p99: number }> => {
    const times: number[] = [];
    for (let turn = 0; turn < turns * rounds; turn++) {
      const began = performance.now();
      try {
        await call(operation, query(turn % turns));
      } catch (error) {
        // Counts with the time that it took: a bound of three seconds is far above the goal.
        if (!(error instanceof StoreError) || error.code !== 'statement_timeout') throw error;
        process.stderr.write(`${name}: ${error.message}\n`);
      }
      times.push(performance.now() - began);
    }
    return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };
  const [first, again] = [await askAll(1), await askAll(ROUNDS_AGAIN)];
  const inMs = ({ p50, p99 }: typeof first): string => `${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms`;
  process.stderr.write(`${name}: ${inMs(again)}; the first time ${inMs(first)}\n`);
  return [
    { name: `${name}, p50`, value: again.p50, unit: 'ms' },
    { name: `${name}, p99`, value: again.p99, unit: 'ms', goal: `<= ${P99_MS_GOAL} ms`, met: again.p99 <= P99_MS_GOAL },
    { name: `${name}, the first time, p50`, value: first.p50, unit: 'ms' },
    { name: `${name}, the first time, p99`, value: first.p99, unit: 'ms' },
  ];
}

/**
 * `--rows N` transactions, `--wallets N` of jettons, `--items N` of NFTs, `--turns N`; `--data FOLDER` to keep and use again, `--until PART` of the index: the
 * last that is made and asked, `--only PATTERN` of requests' names. `--http`: through the listener, with `--baseline FOLDER` of another version,
 * `--commits N` a second, `--mix NAME,NAME` for `--minutes N` each, `--compare N` answers with those of the baseline.
 */
async function run(options: readonly string[]): Promise<BenchResult[]> {
  const given = valuesOf(options);
  const turns = Number(given('--turns') ?? TURNS);
  const wanted = new RegExp(given('--only') ?? '');
  return withIndex(options, async (index) => {
    const { store } = index;
    if (options.includes('--http')) {
      return measureHttp(store, {
        url: index.url,
        baseline: given('--baseline'),
        commits: Number(given('--commits') ?? 0),
        wanted,
        requests: await index.requests(),
        mixes: given('--mix')?.split(',') ?? [],
        minutes: Number(given('--minutes') ?? 1),
        compared: Number(given('--compare') ?? 0),
      });
    }
    const templates = await store.read<{ boc: Buffer }>('SELECT boc FROM templates ORDER BY place');
    const call = createCaller(
      store,
      templates.map(({ boc }) => boc),
    );
    const results: BenchResult[] = [];
    for (const one of (await index.requests()).filter(({ name }) => wanted.test(name))) {
      results.push(...(await measure(call, one, turns)));
    }
    return results;
  });
}

/** The word behind an option. */
function valuesOf(options: readonly string[]): (name: string) => string | undefined {
  return (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
}

/** A generated index in a Postgres of its own. */
export type GeneratedIndex = {
  readonly store: Store;
  readonly url: string;
  readonly requests: () => Promise<readonly Requests[]>;
};

/** Starts Postgres over the index of the options, which is made where it is missing. */
export async function withIndex<T>(
  options: readonly string[],
  work: (index: GeneratedIndex) => Promise<T>,
): Promise<T> {
  const given = valuesOf(options);
  const rows = Number(given('--rows') ?? TRANSACTIONS);
  const counts = {
    transactions: rows,
    accounts: accountsOf(rows),
    wallets: Number(given('--wallets') ?? WALLETS),
    items: Number(given('--items') ?? ITEMS),
  };
  const folder = given('--data') ?? join(tmpdir(), `tonplane-bench-v3-${rows}`);
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('no Postgres for this platform');
  const settings = [...serverSettings, 'maintenance_work_mem=1GB', 'shared_buffers=4GB', 'autovacuum=off'];
  const server = await startEmbeddedPostgres({ bin, folder, settings });
  const store = openStore(server.socketUrl);
  // As the service has both.
  setGcFlags();
  setApiGcFlags();
  try {
    const names = Object.keys(parts);
    const until = names.indexOf(given('--until') ?? names.at(-1)!);
    if (until < 0) throw new Error(`--until takes one of ${names.join(', ')}`);
    const chosen = Object.entries(parts).slice(0, until + 1);
    await ensureIndex(store, counts, chosen);
    return await work({
      store,
      url: server.url,
      async requests() {
        const all: Requests[] = [];
        for (const [, part] of chosen) all.push(...(await part.requests(store, counts)));
        return all;
      },
    });
  } finally {
    await store.close();
    await server.close();
  }
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

type Part = {
  readonly make: (store: Store, counts: TokenCounts) => Promise<void>;
  readonly requests: (store: Store, counts: TokenCounts) => Promise<readonly Requests[]>;
};

/** Parts of the index, each on those before it. */
const parts: Readonly<Record<string, Part>> = {
  ledger: {
    make: (store, { transactions }) => generateIndex(store, transactions, tell),
    requests: (store, { transactions }) => requestsOf(store, transactions),
  },
  tokens: { make: (store, counts) => generateTokens(store, counts, tell), requests: tokenRequestsOf },
  meaning: { make: (store, counts) => generateMeaning(store, counts, tell), requests: meaningRequestsOf },
  'contract states': {
    make: (store) => generateContractStates(store, tell),
    requests: () => Promise.resolve([]),
  },
  // Those of another form are not shown.
  [`written traces of form ${TRACE_FORMAT_VERSION}`]: {
    make: (store) => generateWrittenTraces(store, tell),
    requests: () => Promise.resolve([]),
  },
  'accounts of actions': {
    make: (store, counts) => generateActionAccounts(store, counts, tell),
    requests: () => Promise.resolve([]),
  },
};

/** Each part is made once in a folder; where one was left half made all are made again. */
async function ensureIndex(
  store: Store,
  counts: TokenCounts,
  chosen: readonly (readonly [name: string, part: Part])[],
): Promise<void> {
  await store.transaction(({ query }) =>
    query('CREATE TABLE IF NOT EXISTS public.made (part text PRIMARY KEY, whole boolean NOT NULL)'),
  );
  const made = await store.read<{ part: string; whole: boolean }>('SELECT part, whole FROM public.made');
  const isHalf = made.some(({ whole }) => !whole);
  if (isHalf || made.length === 0) {
    await store.transaction(({ query }) => query(`DROP SCHEMA IF EXISTS ${store.schema} CASCADE`));
    await store.transaction(({ query }) => query('DELETE FROM public.made'));
  }
  const there = isHalf ? [] : made.map(({ part }) => part);
  // A folder from before has the steps that came since.
  if (there.length > 0) await migrate(store);
  for (const [name, { make }] of chosen.filter(([part]) => !there.includes(part))) {
    await store.transaction(({ query }) => query('INSERT INTO public.made VALUES ($1, false)', [name]));
    await make(store, counts);
    await store.transaction(({ query }) => query('UPDATE public.made SET whole = true WHERE part = $1', [name]));
  }
}

export const bench: Bench = {
  about:
    'operations of v3 without HTTP, pages of 100 from memory, over a generated index of 5,000,000 transactions, 15,000,000 messages, 1,000,000 jetton wallets and 500,000 NFTs',
  nodeOptions: indexNodeOptions.split(' '),
  run,
};
