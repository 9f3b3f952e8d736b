import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '#test/style/sources.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { metricTable } from '#test/support/metric-pages.ts';

describe('what is seen of the service', () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest();
  });
  afterAll(() => service.close());

  it('registers only metrics that the table of metrics has, with the same labels', () => {
    const tableRows = new Set(readFileSync(join(projectRoot, 'service/telemetry/README.md'), 'utf8').split('\n'));
    const rows = [service.register, service.networkRegister].flatMap((register) => metricTable(register).split('\n'));
    expect(rows.length).toBeGreaterThan(70);
    expect(rows.filter((row) => !tableRows.has(row))).toEqual([]);
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
