import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createNetworkMetrics } from '#service/devchain/network-metrics.ts';
import { createIndexerMetrics } from '#service/indexer/metrics.ts';
import { createProgress } from '#service/indexer/progress.ts';
import { createInterfacesMetrics } from '#service/interfaces/metrics.ts';
import { createInterpreterMetrics } from '#service/interpreter/metrics.ts';
import { createInterpreterProgress } from '#service/interpreter/progress.ts';
import { createMetadataMetrics } from '#service/metadata/metrics.ts';
import { createPendingMetrics } from '#service/pending/metrics.ts';
import { createStoreMetrics } from '#service/store/metrics.ts';
import { createCacheMetrics, createV3Metrics, createWritingMetrics } from '#service/v3/metrics.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';

const readme = readFileSync(resolve(import.meta.dirname, '../../service/telemetry/README.md'), 'utf8');

describe('what is seen of the service', () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest();
  });
  afterAll(() => service.close());

  it('has every metric in the README, with its type and labels, and no other', () => {
    const own = new Registry();
    createNetworkMetrics(own, () => 0);
    createPendingMetrics(own, () => 0);
    const progress = createProgress({
      network: () => undefined,
      position: () => undefined,
      now: () => 0,
      unixMs: () => 0,
    });
    createIndexerMetrics(own, {
      view: progress.view,
      isHeadWriter: () => false,
      bufferedBytes: () => 0,
      troubles: () => 0,
    });
    createInterpreterMetrics(own, createInterpreterProgress(() => 0).view);
    createInterfacesMetrics(own);
    createMetadataMetrics(own, { backlog: () => undefined, held: () => 0 });
    createStoreMetrics(own, { connections: () => ({ busy: 0, idle: 0, waiting: 0 }) });
    createV3Metrics(own, { rows: () => 0, waiting: () => 0 });
    createCacheMetrics(own);
    createWritingMetrics(own);
    const registered = [service.register, service.networkRegister, own].flatMap(rowsOf);
    const documented = readme.match(/^\| `ton_\w+` \|.*$/gm)?.map((row) => row.split('|').slice(1, 4).join('|')) ?? [];
    expect(documented.toSorted()).toEqual(registered.toSorted());
  });

  it('never holds a key: not in logs, metrics, status or answers, wherever a caller put it', async () => {
    const secret = service.key.split('_')[2] ?? '';
    const { url, internalUrl } = service.api;
    const answers = await Promise.all([
      fetch(`${url}/api/v2/getMasterchainInfo?api_key=${service.key}`),
      fetch(`${url}/api/v2/getMasterchainInfo`, { headers: { 'x-api-key': service.key } }),
      fetch(`${url}/api/v2/getMasterchainInfo`, { headers: { 'x-api-key': `${service.key}x` } }),
      fetch(`${url}/api/v2/getAddressInformation?address=${service.key}&api_key=${service.key}`),
      fetch(`${url}/nowhere/${service.key}?api_key=${service.key}`),
      fetch(`${url}/api/v2/jsonRPC?api_key=${service.key}`, { method: 'POST', body: `{"method":"${service.key}"` }),
      fetch(`${internalUrl}/metrics`),
      fetch(`${internalUrl}/status`),
    ]);
    const seen = [...(await Promise.all(answers.map((answer) => answer.text()))), service.log()];
    expect(service.log()).toContain('getMasterchainInfo');
    expect(seen.filter((text) => text.includes(secret))).toEqual([]);
  });
});

/** ` \`ton_x\` | counter | a, b ` of each metric of ours. */
function rowsOf(register: Registry): string[] {
  return register
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('ton_'))
    .map((metric) => {
      const { labelNames = [] } = metric as unknown as { labelNames?: string[] };
      return ` \`${metric.name}\` | ${kindOf(metric.type)} | ${labelNames.join(', ')} `.replaceAll(/ {2,}/g, ' ');
    });
}

/** prom-client tells kinds as words in its types and as the same words at run time. */
function kindOf(type: unknown): string {
  return String(type).toLowerCase();
}
