import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { generateMetricPages, metricTable } from '#test/support/metric-pages.ts';

import { listFiles, projectRoot, readSources } from './sources.ts';

const pages = ['service/telemetry/README.md', 'operator/README.md'] as const;

/** Names of the metrics in the table of a page. */
function listedOn(page: string): string[] {
  const text = readFileSync(join(projectRoot, page), 'utf8');
  return [...text.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram) \|/gm)].map(([, found = '']) => found);
}

describe('the tables of metrics', () => {
  it('are the ones that `npm run generate` makes from the definitions in code', async () => {
    expect(await generateMetricPages({ check: true })).toEqual(pages.map((path) => ({ path, clean: true })));
  });

  it.each([
    ['service', pages[0]],
    ['operator', pages[1]],
  ])('have every metric that a source of the %s defines', (folder, page) => {
    const name = /'((?:ton|controller_runtime|leader_election|rest_client|workqueue)_\w+)'/g;
    const defined = readSources(folder)
      .filter(({ text }) => /new (Counter|Gauge|Histogram)\b/.test(text))
      .flatMap(({ text }) => [...text.matchAll(name)].map(([, found = '']) => found));
    const listed = listedOn(page);
    expect(listed.length).toBeGreaterThan(30);
    expect(listed.toSorted()).toEqual(defined.toSorted());
  });

  it('have every metric that an alert or a dashboard names', () => {
    const listed = new Set(pages.flatMap((page) => listedOn(page)));
    const readers = [
      'operator/desired/alert-rules.ts',
      'charts/tonplane/rules/operator.yaml',
      ...listFiles('charts/tonplane/dashboards', /\.json$/),
    ];
    const named = readers.flatMap((path) =>
      [...readFileSync(join(projectRoot, path), 'utf8').matchAll(/\bton_\w+/g)].map(([name]) => name),
    );
    expect(named.length).toBeGreaterThan(50);
    const isListed = (name: string): boolean =>
      listed.has(name) || listed.has(name.replace(/_(bucket|count|sum)$/, ''));
    expect([...new Set(named)].filter((name) => !isListed(name))).toEqual([]);
  });

  it('show unit and labels, and escape what Markdown reads', () => {
    const register = new Registry();
    const bytes = { name: 'ton_b_bytes_total', help: 'Bytes of <a> | b', labelNames: ['a', 'b'], registers: [] };
    register.registerMetric(new Counter(bytes));
    register.registerMetric(new Counter({ name: 'ton_a_total', help: 'Events', registers: [] }));
    expect(metricTable(register).split('\n').slice(2)).toEqual([
      '| `ton_a_total` | counter |  |  | Events |',
      String.raw`| \`ton_b_bytes_total\` | counter | bytes | \`a\`, \`b\` | Bytes of &lt;a> \| b |`.replaceAll(
        '\\`',
        '`',
      ),
    ]);
  });
});
