import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedPostgres } from '#service/main/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres-binaries.ts';
import type { Store } from '#service/store/store.ts';
import { quantile, type Bench, type BenchResult } from './bench.ts';
import { openStore, serverSettings } from './indexing/pipeline.ts';
import { accountsOf, generateIndex } from './v3/generated-index.ts';
import { generateTokens, type TokenCounts } from './v3/generated-tokens.ts';
import { createCaller, type Caller } from './v3/caller.ts';
import { requestsOf, type Requests } from './v3/requests.ts';
import { tokenRequestsOf } from './v3/token-requests.ts';

const TRANSACTIONS = 5_000_000;
const WALLETS = 1_000_000;
const ITEMS = 500_000;
const P99_MS_GOAL = 20;
/** Requests measured of a kind; a tenth as many go before. */
const TURNS = 200;

/** Times of one kind of request. */
async function measure(call: Caller, { name, query }: Requests, turns: number): Promise<BenchResult[]> {
  const times: number[] = [];
  const operation = name.split(' ')[0] ?? '';
  const warmUp = Math.ceil(turns / 10);
  for (let turn = 0; turn < warmUp + turns; turn++) {
    const began = performance.now();
    await call(operation, query(turn));
    if (turn >= warmUp) times.push(performance.now() - began);
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  process.stderr.write(`${name}: ${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms\n`);
  return [
    { name: `${name}, p50`, value: p50, unit: 'ms' },
    { name: `${name}, p99`, value: p99, unit: 'ms', goal: `<= ${P99_MS_GOAL} ms`, met: p99 <= P99_MS_GOAL },
  ];
}

/** `--rows N` transactions, `--wallets N` of jettons, `--items N` of NFTs, `--data FOLDER` to keep and use again, `--only TEXT` of a request's name, `--turns N`. */
async function run(options: readonly string[]): Promise<BenchResult[]> {
  const given = (name: string): string | undefined =>
    options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
  const rows = Number(given('--rows') ?? TRANSACTIONS);
  const turns = Number(given('--turns') ?? TURNS);
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
  const store = openStore(server.url);
  try {
    await ensureIndex(store, counts);
    const call = createCaller(store);
    const results: BenchResult[] = [];
    for (const requests of [...(await requestsOf(store, rows)), ...(await tokenRequestsOf(store, counts))]) {
      if (requests.name.includes(given('--only') ?? '')) results.push(...(await measure(call, requests, turns)));
    }
    return results;
  } finally {
    await store.close();
    await server.close();
  }
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Made once in a folder; what was left half made is made again. */
async function ensureIndex(store: Store, counts: TokenCounts): Promise<void> {
  const [found] = await store.read<{ done: boolean }>("SELECT to_regclass('public.generated') IS NOT NULL AS done");
  if (found?.done === true) return;
  await store.transaction(({ query }) => query(`DROP SCHEMA IF EXISTS ${store.schema} CASCADE`));
  await generateIndex(store, counts.transactions, tell);
  await generateTokens(store, counts, tell);
  await store.transaction(({ query }) => query('CREATE TABLE public.generated ()'));
}

export const bench: Bench = {
  about:
    'operations of v3 without HTTP, pages of 100, over a generated index of 5,000,000 transactions, 15,000,000 messages, 1,000,000 jetton wallets and 500,000 NFTs',
  run,
};
