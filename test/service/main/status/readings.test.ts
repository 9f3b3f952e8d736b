import { Counter, Gauge, Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { readFigures } from '#service/main/status/readings.ts';
import type { Status } from '#service/main/status/status-page.ts';

const status = {
  head: { lagSeconds: 3 },
  http: { draining: false, inFlight: 0 },
  liteServers: [
    { name: 'ls0', p70Ms: { light: 4, state: 9 } },
    { name: 'ls1', p70Ms: { state: 9 } },
  ],
} as unknown as Status;

it('the figures of a process are its lags, its requests by kind of answer, and latency and errors of each lite server', async () => {
  const register = new Registry();
  const registers = [register];
  const requests = new Counter({
    name: 'ton_http_requests_total',
    help: 'x',
    labelNames: ['operation', 'status'],
    registers,
  });
  for (const [code, count] of [
    [200, 10],
    [429, 2],
    [404, 1],
    [504, 4],
  ] as const) {
    requests.inc({ operation: 'a', status: code }, count);
  }
  const attempts = new Counter({
    name: 'ton_pool_attempts_total',
    help: 'x',
    labelNames: ['lite_server', 'outcome'],
    registers,
  });
  attempts.inc({ lite_server: 'ls0', outcome: 'ok' }, 50);
  attempts.inc({ lite_server: 'ls0', outcome: 'timeout' }, 3);
  attempts.inc({ lite_server: 'ls1', outcome: 'misbehaving' }, 1);
  new Gauge({ name: 'ton_indexer_lag_seconds', help: 'x', registers }).set(7);
  const figures = await readFigures(status, register);
  expect(figures.map(({ group, name, value }) => `${group} ${name} ${value}`)).toEqual([
    'service head lag 3',
    'service index lag 7',
    'service requests 17',
    'service refusals (4xx) 3',
    'service failures (5xx) 4',
    'ls0 latency 4',
    'ls0 errors 3',
    'ls1 latency 9',
    'ls1 errors 1',
  ]);
});

it('a process without a listener and without an index has the figures that exist', async () => {
  const { http: _http, ...bare } = status;
  const figures = await readFigures({ ...bare, liteServers: [], head: undefined }, new Registry());
  expect(figures.map(({ name, value }) => [name, value])).toEqual([
    ['head lag', undefined],
    ['index lag', undefined],
  ]);
});
