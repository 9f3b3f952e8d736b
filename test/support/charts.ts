import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { completeFacts } from '#charts/monitoring/generate.ts';
import { alertRules, recordingRules } from '#operator/desired/alert-rules.ts';

export const chartsFolder = resolve(import.meta.dirname, '../../charts');
const operatorChart = join(chartsFolder, 'tonplane');

/** A rule of Prometheus: an alert, or a recorded series. */
export type Rule = {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

export type RuleGroup = { readonly name: string; readonly rules: readonly Rule[] };

/** Base of the pages that the rules of tests link to. */
export const runbookUrl = 'https://runbooks.example.com/ton';

/** Facts of a TonApi that has every alert, with links to runbooks. */
export const facts = { ...completeFacts, runbookUrl } as const;

/** The rules of the chart, with links made. */
export function operatorRules(): readonly RuleGroup[] {
  const text = readFileSync(join(operatorChart, 'rules/operator.yaml'), 'utf8').replaceAll('RUNBOOKS', runbookUrl);
  return (parse(text) as { groups: RuleGroup[] }).groups;
}

/** The rules that the operator makes for one TonApi. */
export function tonApiRules(): readonly RuleGroup[] {
  return [
    { name: 'tonapi-slo', rules: recordingRules(facts) as unknown as Rule[] },
    { name: 'tonapi-alerts', rules: alertRules(facts) as unknown as Rule[] },
  ];
}

/** A dashboard of Grafana, as far as tests look into it. */
export type Dashboard = {
  readonly uid: string;
  readonly title: string;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly {
    readonly title: string;
    readonly type: string;
    readonly datasource?: { readonly uid: string };
    readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
};

/** The dashboards of the chart, by file name. */
export function dashboards(): readonly { readonly file: string; readonly dashboard: Dashboard }[] {
  const folder = join(operatorChart, 'dashboards');
  return readdirSync(folder).map((file) => ({
    file,
    dashboard: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Dashboard,
  }));
}

/** Every query of a dashboard: of its panels, and of its variables. */
export function queriesOf({ panels, templating }: Dashboard): readonly string[] {
  const variables = templating.list.flatMap(
    ({ definition }) => /^label_values\((.+), \w+\)$/.exec(definition ?? '')?.[1] ?? [],
  );
  return [...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)), ...variables];
}

/** Values files of a chart's `ci` folder. */
export function sampleValues(chart: string): readonly string[] {
  const folder = join(chartsFolder, chart, 'ci');
  return readdirSync(folder).map((file) => join(folder, file));
}
