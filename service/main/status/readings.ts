import type { Registry } from 'prom-client';

import type { Reading } from './history.ts';
import type { Status } from './status-page.ts';

/** Group of the figures of the whole process. */
export const processGroup = 'service';

/** Outcome of an attempt that has an answer. */
const ANSWERED = 'ok';

type Sample = { readonly labels: Readonly<Record<string, unknown>>; readonly value: number };

/** Reads the figures of the status page's curves: from the status, and from the metrics of the process where they exist. */
export async function readFigures(status: Status, register: Registry): Promise<readonly Reading[]> {
  const [requests, attempts, lag] = await Promise.all([
    samplesOf(register, 'ton_http_requests_total'),
    samplesOf(register, 'ton_pool_attempts_total'),
    samplesOf(register, 'ton_indexer_lag_seconds'),
  ]);
  const answered = (matches: (status: number) => boolean): number =>
    sum(requests.filter(({ labels }) => matches(Number(labels['status']))));
  const counter = (name: string, unit: string, value: number): Reading => ({
    group: processGroup,
    name,
    unit,
    value,
    isCounter: true,
  });
  return [
    { group: processGroup, name: 'head lag', unit: 's', value: status.head?.lagSeconds },
    { group: processGroup, name: 'index lag', unit: 's', value: lag[0]?.value },
    ...(status.http === undefined
      ? []
      : [
          counter('requests', '/s', sum(requests)),
          counter(
            'refusals (4xx)',
            '/s',
            answered((code) => code >= 400 && code < 500),
          ),
          counter(
            'failures (5xx)',
            '/s',
            answered((code) => code >= 500),
          ),
        ]),
    ...status.liteServers.flatMap(({ name, p70Ms }): Reading[] => {
      const failed = attempts.filter(({ labels }) => labels['lite_server'] === name && labels['outcome'] !== ANSWERED);
      return [
        { group: name, name: 'latency', unit: 'ms', value: p70Ms['light'] ?? p70Ms['state'] },
        { group: name, name: 'errors', unit: '/s', value: sum(failed), isCounter: true },
      ];
    }),
  ];
}

async function samplesOf(register: Registry, name: string): Promise<readonly Sample[]> {
  const metric = await register.getSingleMetric(name)?.get();
  return metric?.values ?? [];
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + value, 0);
}
