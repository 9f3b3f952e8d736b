import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { cell, withPart, type Markers } from '#crds/generated-file.ts';

import type { BenchReport, BenchResult } from '../bench.ts';

const file = join(import.meta.dirname, '../README.md');

/** Returns the comments around the figures of a bench in the page. */
export function markersOf(bench: string): Markers {
  return { begin: `<!-- ${bench}: written by npm run bench -- ${bench} --write -->`, end: `<!-- end of ${bench} -->` };
}

/** Replaces the figures of a bench in test/bench/README.md. */
export async function writeFigures(report: BenchReport, options: readonly string[]): Promise<void> {
  const page = await readFile(file, 'utf8');
  await writeFile(file, withPart(page, markersOf(report.bench), figuresOf(report, options)));
}

/**
 * Returns the figures of a run in Markdown: a line with machine, commit, date and runtime, then a row for each figure.
 *
 * @param options of the run, shown in the line
 */
export function figuresOf({ machine, commit, date, results }: BenchReport, options: readonly string[]): string {
  const { cores, cpu, node } = machine;
  const facts = [`${cores} x ${cpu}`, `Node ${node}`, `commit ${commit}`, date.slice(0, 10), ...optionsOf(options)];
  const head = ['| Figure | Value | Unit | Baseline | Ratio | Goal | Met |', '|---|---|---|---|---|---|---|'];
  return [`${facts.join(', ')}.`, '', ...head, ...results.map(rowOf)].join('\n');
}

/** Rounds to three digits, or to a whole number from 100 on. */
export function formatNumber(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function optionsOf(options: readonly string[]): string[] {
  const shown = options.filter((option) => option !== '--json');
  return shown.length === 0 ? [] : [`options \`${shown.join(' ')}\``];
}

function rowOf({ name, value, unit, baseline, ratio, goal, met }: BenchResult): string {
  const cells = [
    name,
    formatNumber(value),
    unit,
    baseline === undefined ? '' : `${baseline.name}: ${formatNumber(baseline.value)}`,
    ratio === undefined ? '' : `${formatNumber(ratio)}x`,
    goal ?? '',
    goal === undefined ? '' : met === true ? 'yes' : 'no',
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}
