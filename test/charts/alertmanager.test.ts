import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { chartsFolder } from '#test/support/charts.ts';
import { ensureProgram } from '#test/support/debian-package.ts';
import { skipLoudly } from '#test/support/skips.ts';

type Route = { readonly receiver: string; readonly routes?: readonly Route[] };

const page = readFileSync(join(chartsFolder, 'docs/prometheus.md'), 'utf8');
const sample = parse(/```yaml\n(route:[^]*?)```/.exec(page)?.[1] ?? '') as { readonly route: Route };

const receiversOf = ({ receiver, routes = [] }: Route): string[] => [receiver, ...routes.flatMap(receiversOf)];

const amtool = (...args: readonly string[]): string => execFileSync('amtool', args, { encoding: 'utf8' });

const missing = skipLoudly(!ensureProgram('amtool', 'prometheus-alertmanager'), {
  what: 'routes of alerts in Alertmanager',
  why: 'no amtool in PATH, and not root on Debian',
});

describe.skipIf(missing)('the routes of the page on Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-alertmanager-'));
  const file = join(folder, 'alertmanager.yaml');
  writeFileSync(file, stringify({ ...sample, receivers: receiversOf(sample.route).map((name) => ({ name })) }));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are a configuration that Alertmanager takes', () => {
    expect(amtool('check-config', file)).toContain('SUCCESS');
  });

  it.each([
    ['page', 'pager'],
    ['warning', 'chat'],
    ['info', 'archive'],
  ])('send an alert of the severity %s to the receiver %s', (severity, receiver) => {
    const args = ['config', 'routes', 'test', `--config.file=${file}`, `severity=${severity}`];
    expect(amtool(...args, 'alertname=TonApiHeadLagging').trim()).toBe(receiver);
  });
});
