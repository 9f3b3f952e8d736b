import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { chartsFolder } from '#test/support/charts.ts';

const page = readFileSync(join(chartsFolder, 'docs/capacity.md'), 'utf8');

/** Share of a core that requests may take: the rule of the page. */
const busyShare = Number(/÷ ([\d.]+)\. One half/.exec(page)?.[1]);

/** Kind, CPU of a request in ms, and cores at 100, 1,000 and 10,000 requests a second. */
const rows = [
  ...page.matchAll(
    /^\| ([^|]+) \| ([\d,.]+) (req\/s|ms)[^|]* \| ([\d.]+) ms \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm,
  ),
].map(([, kind = '', measured = '', unit, cpu, ...cores]) => ({
  kind,
  measured: Number(measured.replaceAll(',', '')),
  unit,
  cpuMs: Number(cpu),
  cores: cores.map(Number),
}));

describe('the page of capacity', () => {
  it.each(rows)('derives the cores of $kind from what is measured', ({ measured, unit, cpuMs, cores }) => {
    const exactMs = unit === 'req/s' ? 1000 / measured : measured;
    expect(cpuMs).toBeCloseTo(exactMs, 3);
    const derived = [100, 1000, 10_000].map((rate) => (rate * exactMs) / 1000 / busyShare);
    expect(cores).toEqual(derived.map((each) => Math.round(each * 100) / 100));
  });

  it('has a row of each surface, and rounds cores up to pods', () => {
    expect(rows.map(({ kind }) => /^\w+/.exec(kind)?.[0])).toEqual([
      'v2',
      'v2',
      'v2',
      'v3',
      'v3',
      'v3',
      'emulation',
      'emulation',
    ]);
    const coresOf = (kind: string) =>
      rows.find((row) => row.kind === kind)?.cores.map((cores) => Math.ceil(cores)) ?? [];
    expect(podsOf('v2, all of it')).toEqual(two(coresOf('v2 `getTransactions`, 10')));
    expect(podsOf('v3, all of it')).toEqual(coresOf('v3 transactions of an account'));
    expect(podsOf('emulation, all of it')).toEqual(two(coresOf('emulation, jetton transfer with actions')));
  });

  it('derives the time of the past of mainnet from rows, then from their meaning', () => {
    const text = page.replaceAll(',', '');
    const rate = Number(/(\d+) masterchain blocks\/s/.exec(text)?.[1]);
    const [rowsPerSecond, meaningPerSecond] = [/\/s (\d+) transactions\/s/, /\| (\d+) transactions\/s without/].map(
      (pattern) => Number(pattern.exec(text)?.[1]),
    ) as [number, number];
    const hours = 10_000_000 / rate / 3600;
    expect(text).toContain(`of that kind take ${Math.round(hours)} hours`);
    expect(text).toContain(`it decides: ${Math.round((hours * rowsPerSecond) / meaningPerSecond)} hours`);
  });
});

/** Pods of a row of the table of pods. */
function podsOf(words: string): readonly number[] {
  const line = page.split('\n').find((each) => each.startsWith(`| ${words}`)) ?? '';
  return [...line.matchAll(/ (\d+) (?=\|)/g)].map(([, pods]) => Number(pods));
}

/** No kind has fewer than two pods. */
function two(cores: readonly number[]): readonly number[] {
  return cores.map((count) => Math.max(2, count));
}
