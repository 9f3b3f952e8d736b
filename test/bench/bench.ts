import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';

import { formatNumber, writeFigures } from './report/page.ts';

/** One figure, measured against a baseline in the same run. */
export type BenchResult = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is held against, in the same unit; absent for a figure that stands alone. */
  readonly baseline?: { readonly name: string; readonly value: number };
  /** How many times better than the baseline (above 1 is better). */
  readonly ratio?: number;
  /** The aim as text, such as `>= 50x` or `<= 6 ms`. */
  readonly goal?: string;
  readonly met?: boolean;
  /** The figure over time, in the same unit, at even distances that the name says. */
  readonly series?: readonly number[];
};

/** A benchmark: a file `test/bench/NAME.ts` that exports one of these as `bench`. */
export type Bench = {
  /** One sentence: what is measured, and against what. */
  readonly about: string;
  /** Options of Node that what is measured runs with, where they are others than those of `npm run bench`: it is run in a process of its own then. */
  readonly nodeOptions?: readonly string[];
  /** @param options what follows the name on the command line */
  run(options: readonly string[]): Promise<BenchResult[]>;
};

/** What `--json` prints: one run on one machine at one commit. */
export type BenchReport = {
  readonly bench: string;
  readonly date: string;
  readonly commit: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly node: string;
    readonly nodeOptions: readonly string[];
  };
  readonly results: readonly BenchResult[];
};

/** Median of at least one number: a busy machine moves it less than it moves a mean. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The `q`-quantile (0..1) by nearest rank. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
  if (value === undefined) throw new Error('quantile of no values');
  return value;
}

/** CPU time of this process while `work` runs, in milliseconds for one of `count` repetitions. */
export async function cpuMs(count: number, work: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000 / count;
}

/** The names that follow `--only` among the options, all of them without it. Throws when one of them is none of `known`. */
export function wantedOf(options: readonly string[], known: readonly string[]): readonly string[] {
  if (!options.includes('--only')) return known;
  const behind = options.slice(options.indexOf('--only') + 1);
  const end = behind.findIndex((option) => option.startsWith('--'));
  const wanted = end < 0 ? behind : behind.slice(0, end);
  const strange = wanted.filter((name) => !known.includes(name));
  if (wanted.length > 0 && strange.length === 0) return wanted;
  throw new UsageError(
    `--only takes names out of ${known.join(', ')}${strange.length > 0 ? `, not ${strange.join(' ')}` : ''}`,
  );
}

class UsageError extends Error {}

/** Names that no file may have. */
const files: Readonly<Record<string, string>> = { index: 'indexing' };

/** Returns the names of all benches, sorted. */
export function benchNames(): string[] {
  const named = Object.values(files);
  const others = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.ts') && file !== basename(import.meta.filename))
    .map((file) => basename(file, '.ts'))
    .filter((name) => !named.includes(name));
  return [...others, ...Object.keys(files)].toSorted();
}

function commitHash(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function formatLine(result: BenchResult): string {
  const baseline = result.baseline
    ? ` | ${result.baseline.name} ${formatNumber(result.baseline.value)} ${result.unit}`
    : '';
  const ratio = result.ratio === undefined ? '' : ` | ${formatNumber(result.ratio)}x`;
  const goal = result.goal === undefined ? '' : ` | goal ${result.goal}: ${result.met ? 'met' : 'NOT met'}`;
  const series = result.series === undefined ? '' : `\n    ${result.series.map(formatNumber).join(' ')}`;
  return `  ${result.name}: ${formatNumber(result.value)} ${result.unit}${baseline}${ratio}${goal}${series}`;
}

/** The same bench in a process with further options, which win over those before them; gives its exit code. */
async function runAgain(nodeOptions: readonly string[], args: readonly string[]): Promise<number> {
  const words = [...process.execArgv, ...nodeOptions, import.meta.filename, ...args];
  const [code] = (await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit')) as [number | null];
  return code ?? 2;
}

async function main(args: readonly string[]): Promise<void> {
  const [name, ...given] = args;
  const options = given.filter((option) => option !== '--write');
  const isWritten = options.length < given.length;
  const known = benchNames();
  if (name === undefined || !known.includes(name)) {
    process.stderr.write(
      `usage: npm run bench -- NAME [--json] [--write] [options of the benchmark]\nNAME is one of: ${known.join(', ')}\n`,
    );
    process.exitCode = 2;
    return;
  }
  const part = ['--only', '--http'].find((option) => options.includes(option));
  if (isWritten && part !== undefined) throw new UsageError(`--write needs a whole run, without ${part}`);
  const { bench } = (await import(join(import.meta.dirname, `${files[name] ?? name}.ts`))) as { bench: Bench };
  if (bench.nodeOptions?.some((option) => !process.execArgv.includes(option)) === true) {
    process.exitCode = await runAgain(bench.nodeOptions, args);
    return;
  }
  const report: BenchReport = {
    bench: name,
    date: new Date().toISOString(),
    commit: commitHash(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      node: process.version,
      nodeOptions: process.execArgv,
    },
    results: await bench.run(options),
  };
  process.stdout.write(options.includes('--json') ? `${JSON.stringify(report)}\n` : textOf(report, bench.about));
  if (isWritten) await writeFigures(report, options);
}

function textOf({ bench, date, commit, machine, results }: BenchReport, about: string): string {
  const { cpu, cores, node, nodeOptions } = machine;
  const head = [`${bench}: ${about}`, `${date}, ${commit}, ${cores} x ${cpu}, node ${node} ${nodeOptions.join(' ')}`];
  return `${[...head, ...results.map(formatLine)].join('\n')}\n`;
}

// Not awaited: benchmarks import from this file, which must be evaluated before they are.
if (import.meta.main) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof UsageError ? error.message : inspect(error)}\n`);
    process.exitCode = 2;
  });
}
