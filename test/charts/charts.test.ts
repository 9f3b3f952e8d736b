import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { generateCharts } from '#charts/generate.ts';
import { readValues, valuesSchema } from '#charts/values.ts';
import { build } from '#operator/desired/build.ts';
import { references, release as builtFor, sample } from '#test/operator/desired/samples.ts';
import { chartsFolder, dashboards, operatorRules, queriesOf, runbookUrl, tonApiRules } from '#test/support/charts.ts';
import { metricNamesOf, metricOf } from '#test/support/promql.ts';

const read = (path: string): string => readFileSync(join(chartsFolder, path), 'utf8');
const release = (JSON.parse(read('../package.json')) as { version: string }).version;
const allRules = [...operatorRules(), ...tonApiRules()].flatMap((group) => group.rules);
const alerts = allRules.filter(({ alert }) => alert !== undefined);

/** Metrics of the service, from their generated table. */
const serviceMetrics = new Set(
  [...readFileSync(join(chartsFolder, '../service/telemetry/README.md'), 'utf8').matchAll(/^\| `(ton_\w+)` \|/gm)].map(
    ([, name]) => name,
  ),
);

describe('a chart', () => {
  it('has the schema and the table that its values.yaml and the custom resources make', async () => {
    const files = await generateCharts({ check: true });
    expect(files.filter(({ clean }) => !clean)).toEqual([]);
    expect(files).toHaveLength(4);
  });

  it.each(['tonplane', 'tonapi'])('of %s is of the release that the repository is', (chart) => {
    const { appVersion, version, apiVersion } = parse(read(`${chart}/Chart.yaml`));
    expect({ appVersion, apiVersion }).toEqual({ appVersion: release, apiVersion: 'v2' });
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('of the operator lets it reach Redis on the ports that the pods of a TonApi may use', () => {
    const policies = build(sample('full'), references(), builtFor).filter(
      ({ object }) => object.kind === 'NetworkPolicy',
    );
    const rules = policies.flatMap(({ object }) => object.spec?.['egress'] as { ports?: { port: number }[] }[]);
    const ports = rules.map(({ ports: allowed = [] }) => allowed.map(({ port }) => port));
    expect(ports).toContainEqual(parse(read('tonplane/values.yaml')).networkPolicy.redisPorts);
  });

  it('names no image by `latest`', () => {
    expect(
      `${read('tonplane/values.yaml')}${read('tonapi/values.yaml')}${read('tonapi/templates/tests/answers.yaml')}`,
    ).not.toContain('latest\n');
  });
});

const schemaOf = (text: string) => valuesSchema(readValues(text)) as { properties: Record<string, object> };

describe('a schema of values', () => {
  it.each([
    ['a number with bounds', '# Meaning.\n# @min 1\n# @max 9\na: 3\n', { type: 'integer', minimum: 1, maximum: 9 }],
    ['a choice', '# Meaning.\n# @enum A B\na: A\n', { type: 'string', enum: ['A', 'B'] }],
    ['a switch', '# Meaning.\na: true\n', { type: 'boolean' }],
    ['a text of a form', '# Meaning.\n# @pattern ^x+$\na: x\n', { type: 'string', pattern: '^x+$' }],
    ['a list', '# Meaning.\n# @items {"type":"string"}\na: []\n', { type: 'array', items: { type: 'string' } }],
    [
      'a list that is not empty and has no item twice',
      '# Meaning.\n# @items {}\n# @minItems 1\n# @unique\na: [1]\n',
      { type: 'array', minItems: 1, uniqueItems: true, items: {} },
    ],
    ['any names', '# Meaning.\n# @map string\na: {}\n', { type: 'object', additionalProperties: { type: 'string' } }],
    ['open content', '# Meaning.\n# @open\na:\n  b: 1\n', { type: 'object' }],
  ])('has %s', (_, text, expected) => {
    expect(schemaOf(text).properties['a']).toEqual({ description: 'Meaning.', ...expected });
  });

  it('closes every group', () => {
    expect(schemaOf('# Group.\na:\n  # Meaning.\n  b: 1\n').properties['a']).toEqual({
      description: 'Group.',
      type: 'object',
      additionalProperties: false,
      required: ['b'],
      properties: { b: { description: 'Meaning.', type: 'integer' } },
    });
  });

  it('requires what a template needs, because null removes a value', () => {
    const text = [
      '# A text.\na: x\n# A number.\nb: 1\n# A choice.\n# @enum A B\nc: A\n# A form.\n# @pattern ^x+$\nd: x',
      '# Or empty.\n# @pattern ^(x+)?$\ne: x\n# A list.\n# @items {}\nf: []\n# Ports.\n# @items {}\n# @minItems 1\ng: [1]',
      '# Group.\nh:\n  # Meaning.\n  i: x\n# Shared.\n# @shared\nj:\n  # Meaning.\n  k: x',
      '# Or null.\n# @nullable\nl:\n  # Meaning.\n  m: 1\n# Switch.\nn: true\n',
    ].join('\n');
    expect(schemaOf(text)).toMatchObject({ required: ['b', 'c', 'd', 'g', 'h'] });
  });

  it('refuses a value that nobody explains', () => {
    expect(() => readValues('a: 1\n')).toThrow('a has no comment');
  });
});

describe('an alert', () => {
  it.each(alerts.map((rule) => ({ ...rule, name: rule.alert ?? '' })))(
    '$name says what is wrong, how bad, and what to do',
    ({ name, labels, annotations }) => {
      expect(annotations?.['summary']).toMatch(/^\S.{20,}/);
      expect(['critical', 'warning', 'info']).toContain(labels?.['severity']);
      expect(annotations?.['runbook_url']).toBe(`${runbookUrl}/${name}.md`);
      expect(read(`tonplane/runbooks/${name}.md`)).toMatch(
        new RegExp(String.raw`^# ${name}: [^\n]+\n\n[\s\S]+## Look\n\n1\. [\s\S]+## Do\n\n- `),
      );
    },
  );

  it('is meant by every runbook', () => {
    const files = readdirSync(join(chartsFolder, 'tonplane/runbooks')).filter((file) => file !== 'README.md');
    const pages = files.map((file) => file.replace('.md', ''));
    expect(new Set(pages)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  });
});

describe.each(dashboards())('the dashboard $file', ({ dashboard }) => {
  it('asks the data source that its viewer chooses', () => {
    const [first] = dashboard.templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource' });
    const sources = dashboard.panels.flatMap(({ datasource, targets = [] }) => [
      ...(datasource === undefined ? [] : [datasource.uid]),
      ...targets.map((target) => target.datasource.uid),
    ]);
    expect(new Set(sources)).toEqual(new Set(['${datasource}']));
  });

  it('has a title and a query for every panel', () => {
    const panels = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(panels.length).toBeGreaterThan(8);
    expect(panels.filter(({ title, targets = [] }) => title === '' || targets.length === 0)).toEqual([]);
  });
});

describe('queries', () => {
  const recorded = new Set(allRules.map(({ record }) => record));
  const queries = [
    ...allRules.map(({ expr }) => expr),
    ...dashboards().flatMap(({ dashboard }) => queriesOf(dashboard)),
  ];
  const names = [...new Set(queries.flatMap(metricNamesOf))];

  it('name metrics of the service that it has, and series that are recorded', () => {
    const unknown = names
      .filter((name) => /^ton_(?!operator_|api_)/.test(name) || name.startsWith('tonapi:'))
      .filter((name) => !serviceMetrics.has(metricOf(name)) && !serviceMetrics.has(name) && !recorded.has(name));
    expect(names.length).toBeGreaterThan(50);
    expect(unknown).toEqual([]);
  });
});

describe('names of metrics', () => {
  it.each([
    ['sum by (a) (rate(x_total{b="c_total"}[5m])) / on (d) group_left () y > 0.1', ['x_total', 'y']],
    ['histogram_quantile(0.9, sum by (le) (rate(z_bucket[$__rate_interval])))', ['z_bucket']],
    ['absent(a == 1) or vector(0) unless tonapi:b:rate5m{x="$y"} offset 1h', ['a', 'tonapi:b:rate5m']],
  ])('are found in %s', (expression, expected) => {
    expect(metricNamesOf(expression)).toEqual(expected);
  });
});
