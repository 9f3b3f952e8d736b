import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stringify } from 'yaml';

import { freePort } from './free-port.ts';

import { ensureProgram } from './debian-package.ts';
import { createReaper } from './reaper.ts';
import { skipLoudly } from './skips.ts';

/** What Prometheus scrapes: `host:port` of each, and labels as a ServiceMonitor would give them. */
export type ScrapeTarget = {
  readonly address: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly path?: string;
};

/** A running Prometheus. */
export type Prometheus = {
  readonly url: string;
  /** An instant query's vector. @throws with Prometheus' words when it is none */
  query(expression: string): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]>;
  /** Every rule with its health and last error. */
  rules(): Promise<readonly { name: string; health: string; lastError?: string; state?: string }[]>;
  /** Names of all metrics that were scraped or recorded. */
  metricNames(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
};

const readyTimeoutMs = 30_000;
const pollMs = 50;

/** For `describe.skipIf`: true, after saying so loudly, where there is neither Prometheus nor a way to install it. */
export function withoutPrometheus(what: string): boolean {
  const missing = !ensureProgram('promtool', 'prometheus');
  return skipLoudly(missing, { what, why: 'no promtool in PATH, and not root on Debian' });
}

/** Runs promtool. @throws with what it said when it fails */
export function promtool(...args: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    execFile('promtool', args, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`));
    });
  });
}

/**
 * Starts the real Prometheus, scraping every target each second.
 *
 * @param options.rules groups of rules, evaluated each second whatever their interval
 */
export async function startPrometheus(options: {
  readonly targets: readonly ScrapeTarget[];
  readonly rules?: readonly object[];
}): Promise<Prometheus> {
  const { targets, rules = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-prometheus-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const groups = rules.map((group) => ({ ...group, interval: '1s' }));
  writeFileSync(join(folder, 'rules.yaml'), stringify({ groups }));
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(configuration(targets)));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const reaper = createReaper(folder);
  if (child.pid !== undefined) reaper.add(child.pid);
  const close = async (): Promise<void> => {
    await end(child);
    if (child.pid !== undefined) reaper.drop(child.pid);
    reaper.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await close();
      throw new Error('prometheus did not start');
    }
    await sleep(pollMs);
  }
  return {
    url,
    async query(expression) {
      type Vector = { result: { metric: Record<string, string>; value: [number, string] }[] };
      return (await ask<Vector>(`/query?query=${encodeURIComponent(expression)}`)).result;
    },
    async rules() {
      type Found = { groups: { rules: { name: string; health: string; lastError?: string; state?: string }[] }[] };
      return (await ask<Found>('/rules')).groups.flatMap((group) => group.rules);
    },
    metricNames: async () => new Set(await ask<string[]>('/label/__name__/values')),
    close,
  };
}

function configuration(targets: readonly ScrapeTarget[]): object {
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: targets.map(({ address, labels = {}, path = '/metrics' }, index) => ({
      job_name: `target-${index}`,
      metrics_path: path,
      static_configs: [{ targets: [address], labels }],
    })),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}
