import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createLogger } from '#service/telemetry/logger.ts';
import { createTracing } from '#service/telemetry/tracer.ts';
import { runningMs } from '#test/support/running-time.ts';

type Received = { path: string; body: Record<string, unknown> };

type WireSpan = { name: string; traceId: string; spanId: string; parentSpanId?: string };

describe('the tracer', () => {
  let collector: Server;
  let received: Received[];
  let answers: boolean;
  let lines: string[];
  let logger: ReturnType<typeof createLogger>;

  beforeEach(async () => {
    received = [];
    answers = true;
    // Logger of this test alone, because a tracer of an earlier test may still log a failed export.
    const own: string[] = [];
    lines = own;
    logger = createLogger({ level: 'info' }, { write: (line: string) => void own.push(line) });
    collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        received.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(parts).toString()) });
        if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
  });

  afterEach(() => {
    collector.closeAllConnections();
    collector.close();
  });

  const endpoint = (): string => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const start = (sampleRatio: number, at = endpoint()) =>
    createTracing(
      { tracing: { endpoint: at, sampleRatio }, resource: { 'service.name': 'tonplane', 'ton.network': 'testnet' } },
      { logger },
    );
  const spans = (): WireSpan[] =>
    received.flatMap(({ body }) =>
      (body['resourceSpans'] as { scopeSpans: { spans: WireSpan[] }[] }[]).flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );

  it.each(['', '/', '/base/'])(
    'the tracer sends spans, child under parent, to v1/traces below an endpoint ending in "%s"',
    async (suffix) => {
      const tracing = await start(1, `${endpoint()}${suffix}`);
      const parent = tracing.tracer.startSpan('request');
      tracing.tracer.startSpan('attempt', {}, trace.setSpan(ROOT_CONTEXT, parent)).end();
      parent.end();
      await tracing.close();
      expect(received.map(({ path }) => path)).toEqual([`${suffix.replace(/\/$/, '')}/v1/traces`]);
      const [attempt, request] = spans();
      expect(attempt).toMatchObject({ name: 'attempt', traceId: request?.traceId, parentSpanId: request?.spanId });
      expect(JSON.stringify(received[0]?.body)).toContain('{"key":"ton.network","value":{"stringValue":"testnet"}}');
    },
  );

  it('the tracer samples the configured share of traces, each whole or not at all', async () => {
    const tracing = await start(0.25);
    for (let index = 0; index < 800; index++) {
      const parent = tracing.tracer.startSpan('request');
      tracing.tracer.startSpan('attempt', {}, trace.setSpan(ROOT_CONTEXT, parent)).end();
      parent.end();
    }
    await tracing.close();
    const requests = spans().filter(({ name }) => name === 'request');
    expect(requests.length).toBeGreaterThan(120);
    expect(requests.length).toBeLessThan(280);
    expect(spans()).toHaveLength(2 * requests.length);
  });

  it('the tracer samples another share from the moment of the change', async () => {
    const tracing = await start(0);
    tracing.tracer.startSpan('before').end();
    tracing.setSampleRatio(1);
    tracing.tracer.startSpan('after').end();
    await tracing.close();
    expect(spans().map(({ name }) => name)).toEqual(['after']);
  });

  it('the tracer stops within 2 s when the collector accepts requests and never answers', async () => {
    answers = false;
    const tracing = await start(1);
    tracing.tracer.startSpan('request').end();
    expect(await runningMs(() => tracing.close())).toBeLessThan(2000);
    expect(received).toHaveLength(1);
  });

  it('the tracer logs once that the collector is unavailable', async () => {
    const address = endpoint();
    collector.close();
    await once(collector, 'close');
    const tracing = await start(1, address);
    tracing.tracer.startSpan('request').end();
    await tracing.close();
    await expect.poll(() => lines).toEqual([expect.stringContaining('traces could not be exported')]);
  });

  it('the tracer without an endpoint costs next to nothing and sends nothing', async () => {
    const tracing = await createTracing({ tracing: null, resource: {} }, { logger });
    const span = tracing.tracer.startSpan('request');
    expect(span.isRecording()).toBe(false);
    const rounds = 20_000;
    const before = process.threadCpuUsage();
    for (let round = 0; round < rounds; round++) tracing.tracer.startSpan('request').end();
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / rounds).toBeLessThan(2);
    await tracing.close();
    expect(received).toEqual([]);
  });
});
