import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

import { quantile, type BenchResult } from '../bench.ts';
import type { GeneratedIndex } from '../v3.ts';
import { ask, type Contender } from './contenders.ts';
import { allKinds, withNetwork } from './http.ts';
import { pathOfMix, readMix } from './mixes.ts';

const MIXES = ['explorer', 'wallet', 'exchange', 'bot'] as const;

/** Callers at once, each with one request at a time: their number grows until p99 is above the bound. */
const CALLERS = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128] as const;

const P99_MS_MAX = 100;

/** Time of a step: some thousand requests. */
const STEP_MS = 10_000;

/** Before the first step of a mix: plans and caches exist, and code is compiled. */
const WARM_UP_MS = 20_000;

/** Part of the ceiling that pods should have: the rest serves the time until another pod is ready. */
const TARGET_PART = 0.7;

type Step = { readonly callers: number; readonly perSecond: number; readonly p99: number; readonly failed: number };

/** Most requests a second of a service on one core whose p99 is at most 100 ms. Callers and Postgres have the other cores. */
export async function measureCeilings({ store, url, requests }: GeneratedIndex): Promise<BenchResult[]> {
  const kinds = await allKinds(store, await requests());
  const connections = Math.max(...CALLERS);
  return withNetwork({ url, connections }, (serve) =>
    serve(async ([contender]) => {
      pinToOneCore(contender!);
      const results: BenchResult[] = [];
      for (const mix of MIXES) results.push(...(await measureMix(contender!, mix, pathOfMix(readMix(mix), kinds))));
      return results;
    }),
  );
}

/** All threads of the service, and those that they start, have the last core. */
function pinToOneCore({ service }: Contender): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${availableParallelism() - 1}`, `${service.pid}`]);
}

async function measureMix(
  contender: Contender,
  mix: string,
  path: (turn: number) => string,
): Promise<readonly BenchResult[]> {
  const turns = { next: 0 };
  await askFor(WARM_UP_MS, 16, { contender, path, turns });
  const steps: Step[] = [];
  for (const callers of CALLERS) {
    const step = await askFor(STEP_MS, callers, { contender, path, turns });
    process.stderr.write(
      `${mix}, ${callers} callers: ${step.perSecond.toFixed(0)} req/s, p99 ${step.p99.toFixed(1)} ms, ${step.failed} failed\n`,
    );
    steps.push(step);
    if (step.p99 > P99_MS_MAX) break;
  }
  const within = steps.filter(({ p99, failed }) => p99 <= P99_MS_MAX && failed === 0);
  const best = within.toSorted((one, other) => other.perSecond - one.perSecond)[0];
  const { perSecond = 0, callers = 0, p99 = 0 } = best ?? {};
  return [
    { name: `${mix}, most requests a second with p99 <= ${P99_MS_MAX} ms`, value: perSecond, unit: 'req/s' },
    { name: `${mix}, callers at once there`, value: callers, unit: 'callers' },
    { name: `${mix}, p99 there`, value: p99, unit: 'ms' },
    {
      name: `${mix}, 70 % of it: targetRequestsPerSecond of such traffic`,
      value: TARGET_PART * perSecond,
      unit: 'req/s',
    },
  ];
}

type Asking = {
  readonly contender: Contender;
  readonly path: (turn: number) => string;
  /** Other requests in each step. */
  readonly turns: { next: number };
};

async function askFor(ms: number, callers: number, { contender, path, turns }: Asking): Promise<Step> {
  const times: number[] = [];
  let failed = 0;
  const began = performance.now();
  const call = async (): Promise<void> => {
    while (performance.now() - began < ms) {
      const from = performance.now();
      const { status } = await ask(contender.pool, path(turns.next++));
      times.push(performance.now() - from);
      if (status !== 200) failed++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const seconds = (performance.now() - began) / 1000;
  return { callers, perSecond: times.length / seconds, p99: quantile(times, 0.99), failed };
}
