import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { build } from '#operator/desired/build.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';
import { chartsFolder } from '#test/support/charts.ts';

type AdapterRule = {
  readonly seriesQuery: string;
  readonly name: { readonly matches: string; readonly as: string };
  readonly metricsQuery: string;
};

const text = readFileSync(join(chartsFolder, 'tonplane/integrations/prometheus-adapter.yaml'), 'utf8');
const { rules } = parse(text) as { readonly rules: { readonly custom: readonly AdapterRule[] } };

it.each([
  ['ton_requests_per_second', 0],
  ['ton_stream_connections', 1],
])(
  'the rule for prometheus-adapter serves the metric %s, for which the autoscaler asks, from one of the service',
  (name, at) => {
    const rule = rules.custom[at];
    expect(rule?.name.as).toBe(name);
    const autoscaler = build(sample('full'), references(), release).find(
      ({ object }) => object.kind === 'HorizontalPodAutoscaler',
    );
    expect(JSON.stringify(autoscaler?.object.spec)).toContain(`"metric":{"name":"${rule?.name.as}"}`);
    const [series = ''] = /^\w+/.exec(rule?.seriesQuery ?? '') ?? [];
    expect(series).toMatch(new RegExp(rule?.name.matches ?? '^$'));
    const metrics = readFileSync(join(chartsFolder, '../service/telemetry/README.md'), 'utf8');
    expect(metrics).toContain(`| \`${series}\` |`);
    expect(rule?.metricsQuery).toContain('<<.LabelMatchers>>');
  },
);
