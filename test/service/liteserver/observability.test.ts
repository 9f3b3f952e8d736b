import type { Attributes, Context, Span, SpanContext } from '@opentelemetry/api';
import { context, ProxyTracerProvider, trace } from '@opentelemetry/api';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { getTime, getVersion } from '#service/liteserver/functions.ts';
import { failing, respondTime, startClient, startServer } from './loopback.ts';

const timeoutMs = 60_000;

type Seen = { name: string; attributes: Attributes; parent: string | undefined; ended: boolean };

/** Creates a tracer that records its spans. */
function recordingTracer() {
  const spans: Seen[] = [];
  const noop = new ProxyTracerProvider().getTracer('test');
  return {
    spans,
    tracer: {
      ...noop,
      startSpan(name: string, options: { attributes?: Attributes } = {}, parent: Context = context.active()): Span {
        const seen: Seen = {
          name,
          attributes: { ...options.attributes },
          parent: trace.getSpanContext(parent)?.spanId,
          ended: false,
        };
        spans.push(seen);
        const span = noop.startSpan(name);
        return Object.assign(Object.create(span) as Span, {
          setAttribute(key: string, value: string) {
            seen.attributes[key] = value;
          },
          setStatus: () => undefined,
          end() {
            seen.ended = true;
          },
        });
      },
      startActiveSpan: () => {
        throw new Error('not used here');
      },
    },
  };
}

describe('a query', () => {
  it('a query is counted by function and outcome, with durations, bytes and the state of the connection', async () => {
    const register = new Registry();
    const server = await startServer((request) =>
      request.equals(getVersion.encode({})) ? failing(-503, 'timeout') : respondTime(request),
    );
    const client = startClient(server, {}, { register });
    await client.query(getTime, {}, { timeoutMs });
    await client.query(getTime, {}, { timeoutMs });
    await expect(client.query(getVersion, {}, { timeoutMs })).rejects.toThrow('timeout');
    const text = await register.metrics();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'ton_liteserver_queries_total{lite_server="test",function="getTime",outcome="ok"} 2',
        'ton_liteserver_queries_total{lite_server="test",function="getVersion",outcome="overloaded"} 1',
        'ton_liteserver_query_duration_seconds_count{function="getTime"} 2',
        'ton_liteserver_connects_total{lite_server="test",outcome="ready"} 1',
        'ton_liteserver_in_flight{lite_server="test"} 0',
        'ton_liteserver_connected{lite_server="test"} 1',
      ]),
    );
    expect(text).toMatch(/ton_liteserver_received_bytes_total\{lite_server="test"\} [1-9]/);
    expect(text).toMatch(/ton_liteserver_sent_bytes_total\{lite_server="test"\} [1-9]/);
  });

  it('a closed lite server removes its gauges, and other lite servers share the register', async () => {
    const register = new Registry();
    const server = await startServer();
    const first = startClient(server, {}, { register });
    const second = startClient(server, {}, { register });
    await Promise.all([first, second].map((client) => client.query(getTime, {}, { timeoutMs })));
    await first.close();
    await second.close();
    expect(await register.metrics()).not.toContain('ton_liteserver_connected{');
  });

  it('a query leaves a span under its caller’s, ended with its outcome', async () => {
    const { tracer, spans } = recordingTracer();
    const client = startClient(await startServer(), {}, { tracer });
    const parent: SpanContext = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
    await client.query(getTime, {}, { timeoutMs, span: trace.wrapSpanContext(parent) });
    expect(spans).toEqual([
      {
        name: 'liteserver.query',
        attributes: { 'ton.lite_server': 'test', 'ton.function': 'getTime', 'ton.outcome': 'ok' },
        parent: parent.spanId,
        ended: true,
      },
    ]);
  });
});
