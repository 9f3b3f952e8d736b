import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { startCollector, type Collector, type Span } from '#test/support/collector.ts';

describe('with a collector configured', () => {
  let collector: Collector;
  let service: ApiUnderTest;

  beforeAll(async () => {
    collector = await startCollector();
    service = await startApiUnderTest({ settings: { tracingEndpoint: collector.url } });
  });
  afterAll(async () => {
    await service.close();
    await collector.close();
  });

  it('one trace follows a request through limit, pool attempt, lite-server query and proof', async () => {
    const seqno = service.network.head().id.seqno - 1;
    const address = '-1:5555555555555555555555555555555555555555555555555555555555555555';
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await fetch(`${service.api.url}/api/v2/getAddressBalance?address=${address}&seqno=${seqno}`, {
      headers: { 'x-api-key': service.key, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    const ours = (): Span[] => collector.spans.filter((span) => span.traceId === traceId);
    await expect.poll(() => new Set(ours().map(({ name }) => name)).size).toBeGreaterThanOrEqual(5);
    expect([...new Set(ours().map(({ name }) => name))].toSorted()).toEqual(
      expect.arrayContaining(['limits.decide', 'liteserver.query', 'pool.attempt', 'proof']),
    );
    expect(new Set(chains(ours()))).toContain('request > pool.attempt > liteserver.query');
    expect(new Set(chains(ours()))).toContain('request > pool.attempt > proof');
    expect(new Set(chains(ours()))).toContain('request > limits.decide');
  });
});

/** Each span as the names from the request down to it; the request's own span is called that, whatever its operation. */
function chains(spans: readonly Span[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const chain = (span: Span): string => {
    const parent = byId.get(span.parentSpanId ?? '');
    return parent === undefined ? 'request' : `${chain(parent)} > ${span.name}`;
  };
  return spans.map(chain);
}
