import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { readPodMetrics, trafficBetween } from '#operator/kubectl/pod-metrics.ts';
import { createHttpMetrics } from '#service/http/metrics.ts';

function podOf() {
  const register = new Registry();
  const metrics = createHttpMetrics(register);
  return {
    answer(times: number, status: number, seconds: number) {
      for (let index = 0; index < times; index++) {
        metrics.begin();
        metrics.end({ operation: 'getMasterchainInfo', status, seconds, bytes: 100 });
      }
    },
    read: async () => readPodMetrics(await register.metrics()),
  };
}

it('requests, failures and p99 between two pages of the service are those of that time alone', async () => {
  const pod = podOf();
  pod.answer(500, 200, 20);
  const before = await pod.read();
  pod.answer(97, 200, 0.002);
  pod.answer(3, 503, 0.002);
  const after = await pod.read();
  const { requests, failures, p99Seconds } = trafficBetween(before, after);
  expect({ requests, failures }).toEqual({ requests: 100, failures: 3 });
  expect(p99Seconds).toBeGreaterThan(0);
  expect(p99Seconds).toBeLessThan(0.01);
  expect(trafficBetween(undefined, after)).toMatchObject({ requests: 600, failures: 3 });
  expect(trafficBetween(undefined, after).p99Seconds).toBeGreaterThan(1);
});

it('a pod that started again between two pages counts from zero', async () => {
  const old = podOf();
  old.answer(500, 200, 0.01);
  const young = podOf();
  young.answer(7, 200, 0.01);
  expect(trafficBetween(await old.read(), await young.read()).requests).toBe(7);
});

it('a pod without requests has no p99, and a pod without a listener has no requests', async () => {
  const idle = await podOf().read();
  expect(trafficBetween(idle, idle).p99Seconds).toBeUndefined();
  const indexer = readPodMetrics('ton_indexer_lag_seconds 4.5\nton_indexer_lag_blocks 2\n');
  expect(indexer).toMatchObject({ indexLagSeconds: 4.5, indexLagBlocks: 2, inFlight: undefined });
  expect(trafficBetween(undefined, indexer)).toEqual({
    requests: undefined,
    failures: undefined,
    p99Seconds: undefined,
  });
});

it('lite servers are counted over all their series, and unreadable lines are left out', () => {
  const page = [
    '# HELP ton_pool_usable_lite_servers Lite servers that get reads',
    'ton_pool_usable_lite_servers 2',
    'ton_liteserver_connected{lite_server="a b, \\"c\\" {x}"} 1',
    'ton_liteserver_connected{lite_server="d"} 0',
    'ton_liteserver_connected{lite_server="e"} 1',
    'ton_http_in_flight_requests nonsense',
    '<html>',
  ].join('\n');
  expect(readPodMetrics(page)).toMatchObject({ usableLiteServers: 2, liteServers: 3, inFlight: undefined });
});
