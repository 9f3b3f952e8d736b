import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { createClientMetrics, createQueueMetrics, createWatchMetrics } from '#operator/kubernetes/metrics.ts';
import { createReconcileMetrics } from '#operator/reconcile/metrics.ts';
import { projectRoot } from '#test/style/sources.ts';

it('the README of the operator lists exactly the metrics that the operator registers, with their types and meanings', () => {
  const register = new Registry();
  createReconcileMetrics(register, { version: '0', commit: '0' }, { rolloutsWaiting: () => 0 });
  createQueueMetrics(register);
  createWatchMetrics(register);
  createClientMetrics(register);
  const registered = register
    .getMetricsAsArray()
    .map((metric) => {
      const { name, help } = metric as unknown as { name: string; help: string };
      return `${name} ${metric.constructor.name.toLowerCase()} ${help}`;
    })
    .concat('leader_election_master_status gauge 1 while this process leads and may write');
  const readme = readFileSync(join(projectRoot, 'operator/README.md'), 'utf8');
  const listed = [...readme.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \|[^|]*\| (.*) \|$/gm)].map(
    ([, name, type, meaning = '']) => `${name} ${type} ${meaning.replaceAll('`', '')}`,
  );
  expect(listed.toSorted()).toEqual(registered.toSorted());
});
