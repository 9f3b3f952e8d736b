import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string };
type ExportRequest = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

/** An OTLP collector that keeps what it is sent. */
function startCollector(): Promise<{ server: Server; url: string; spans: Span[] }> {
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest;
      spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      done({ server, url: `http://127.0.0.1:${port}`, spans });
    });
  });
}

describe('with a collector configured', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let service: ApiUnderTest;

  beforeAll(async () => {
    collector = await startCollector();
    service = await startApiUnderTest({ settings: { tracingEndpoint: collector.url } });
  });
  afterAll(async () => {
    await service.close();
    collector.server.close();
  });

  it('one trace follows a request through limit, pool attempt, lite-server query and proof', async () => {
    const seqno = service.network.head().id.seqno - 1;
    const address = '-1:5555555555555555555555555555555555555555555555555555555555555555';
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await fetch(`${service.api.url}/api/v2/getAddressBalance?address=${address}&seqno=${seqno}`, {
      headers: { 'x-api-key': service.key, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    const ours = (): Span[] => collector.spans.filter((span) => span.traceId === traceId);
    await expect
      .poll(() => new Set(ours().map(({ name }) => name)).size, { timeout: 10_000 })
      .toBeGreaterThanOrEqual(5);
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
