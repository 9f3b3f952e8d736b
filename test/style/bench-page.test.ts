import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { benchNames, type BenchReport } from '#test/bench/bench.ts';
import { figuresOf, markersOf } from '#test/bench/report/page.ts';

import { projectRoot } from './sources.ts';

const page = readFileSync(join(projectRoot, 'test/bench/README.md'), 'utf8');

it.each(benchNames())('the page of benches has a place for the figures of %s, with one value in each cell', (bench) => {
  const { begin, end } = markersOf(bench);
  expect(page.split(begin)).toHaveLength(2);
  const part = page.slice(page.indexOf(begin) + begin.length, page.indexOf(end));
  const rows = part.split('\n').filter((line) => line.startsWith('|'));
  expect(rows.filter((row) => row.split(/(?<!\\)\|/).length !== 9)).toEqual([]);
  expect(rows.filter((row) => row.includes(';'))).toEqual([]);
});

it('the figures of a run have machine, commit, date and runtime in a line, and a row for each figure', () => {
  const report: BenchReport = {
    bench: 'sample',
    date: '2026-01-02T03:04:05.678Z',
    commit: 'abc1234',
    machine: { cpu: 'A CPU', cores: 2, node: 'v26.10.0', nodeOptions: [] },
    results: [
      {
        name: 'reads',
        value: 12_411,
        unit: 'req/s',
        baseline: { name: 'another server', value: 230 },
        ratio: 53.96,
        goal: '>= 60x',
        met: false,
      },
      { name: 'delay | p99', value: 0.69, unit: 'ms' },
    ],
  };
  expect(figuresOf(report, ['--json', '--peer', 'python'])).toBe(
    [
      '2 x A CPU, Node v26.10.0, commit abc1234, 2026-01-02, options `--peer python`.',
      '',
      '| Figure | Value | Unit | Baseline | Ratio | Goal | Met |',
      '|---|---|---|---|---|---|---|',
      '| reads | 12411 | req/s | another server: 230 | 54.0x | >= 60x | no |',
      String.raw`| delay \| p99 | 0.690 | ms |  |  |  |  |`,
    ].join('\n'),
  );
});
