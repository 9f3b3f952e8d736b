import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { generateMonitoring, operatorRulesText, runbookTable } from '#charts/monitoring/generate.ts';
import { renderDashboard, type Panel } from '#charts/monitoring/grafana.ts';

type Rendered = {
  readonly panels: readonly {
    readonly type: string;
    readonly title: string;
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
    readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
  }[];
};

const render = (panels: readonly Panel<'A' | 'B'>[]): Rendered =>
  renderDashboard({
    name: 'x',
    title: 'X',
    description: '',
    variables: [],
    rows: ['A', 'B'],
    widths: { stat: 4, curves: 12 },
    panels,
  }) as Rendered;
const page = (runbook: string) => runbookTable([{ alert: 'A', severities: ['critical', 'info'], runbook }]);
const curves = (row: 'A' | 'B', title: string) => ({ row, title, queries: { '': 'up' } });
const stat = (row: 'A' | 'B', title: string) => ({ ...curves(row, title), kind: 'stat' }) as const;
const places = ({ panels }: Rendered) =>
  panels.map(({ title, gridPos: { h, w, x, y } }) => `${title} ${h}x${w} at ${x},${y}`);

describe('dashboards, rules and the index of runbooks', () => {
  it('are the ones that `npm run generate` makes from panels, alerts and headings', async () => {
    const files = await generateMonitoring({ check: true });
    expect(files.filter(({ clean }) => !clean)).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual([
      'charts/tonplane/dashboards/tonapi.json',
      'charts/tonplane/dashboards/operator.json',
      'charts/tonplane/dashboards/slo.json',
      'charts/tonplane/rules/operator.yaml',
      'charts/tonplane/runbooks/README.md',
    ]);
  });

  it('place panels by their rows, single values first, and begin a line when one is full', () => {
    const panels = [curves('B', 'b'), curves('A', 'a1'), stat('A', 's'), curves('A', 'a2'), curves('A', 'a3')];
    expect(places(render(panels))).toEqual([
      'A 1x24 at 0,0',
      's 4x4 at 0,1',
      'a1 8x12 at 4,1',
      'a2 8x12 at 0,9',
      'a3 8x12 at 12,9',
      'B 1x24 at 0,17',
      'b 8x12 at 0,18',
    ]);
  });

  it('read the metrics of one TonApi where a panel says PODS', () => {
    const queries = { in: 'rate(a_total{PODS}[RATE])', out: 'b{PODS,c="d"}' };
    const [, panel] = render([{ row: 'A', title: 'a', queries }]).panels;
    expect(panel?.targets).toMatchObject([
      {
        refId: 'A',
        legendFormat: 'in',
        expr: 'rate(a_total{namespace="$namespace",tonapi="$tonapi"}[$__rate_interval])',
      },
      { refId: 'B', legendFormat: 'out', expr: 'b{namespace="$namespace",tonapi="$tonapi",c="d"}' },
    ]);
  });

  it('have the rule of an alert with the link to its runbook', () => {
    const alert = { alert: 'A', expr: 'x\n  > 1', severity: 'info', summary: 'A {{ $value }}' } as const;
    expect(parse(operatorRulesText({ group: [alert, { ...alert, expr: 'x > 1', for: '1m' }] }))).toEqual({
      groups: [
        {
          name: 'group',
          rules: [
            {
              alert: 'A',
              expr: 'x\n  > 1\n',
              labels: { severity: 'info' },
              annotations: { summary: 'A {{ $value }}', runbook_url: 'RUNBOOKS/A.md' },
            },
            {
              alert: 'A',
              expr: 'x > 1',
              for: '1m',
              labels: { severity: 'info' },
              annotations: { summary: 'A {{ $value }}', runbook_url: 'RUNBOOKS/A.md' },
            },
          ],
        },
      ],
    });
  });

  it('refuse a runbook whose heading has no meaning', () => {
    expect(page('# A: a | b\n').split('\n').at(-1)).toBe(String.raw`| [A](A.md) | critical, info | a \| b |`);
    expect(() => page('# A\n')).toThrow('A.md: expected the heading "# A: meaning"');
  });
});
