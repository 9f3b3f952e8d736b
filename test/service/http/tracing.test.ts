import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { parentContext } from '#service/http/tracing.ts';
import { PoolError } from '#service/pool/errors.ts';
import { liveInfo, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { startListener, type Listener } from './listener.ts';
import { request, rpc } from './requests.ts';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

let failure: Error | undefined;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    dependencies: { tracer },
    accounts: scriptAccounts({
      info: ({ span }) => {
        tracer.startSpan('pool.attempt', {}, trace.setSpan(ROOT_CONTEXT, span!)).end();
        if (failure !== undefined) throw failure;
        return liveInfo;
      },
    }),
  });
});
afterAll(async () => {
  await listener.close();
  await provider.shutdown();
});
beforeEach(() => {
  failure = undefined;
  exporter.reset();
});

const spans = () => exporter.getFinishedSpans();
const root = (name: string) => spans().find((span) => span.name === name);

describe('a trace', () => {
  it('is one of the request, the decision on limits and what live adds, under the caller', async () => {
    await request(`${listener.url}/api/v2/getMasterchainInfo`, {
      headers: { traceparent: `00-${traceId}-${spanId}-01` },
    });
    await expect.poll(() => spans().length).toBe(3);
    const parent = root('GET getMasterchainInfo')!;
    expect(parent.parentSpanContext?.spanId).toBe(spanId);
    expect(parent.attributes).toMatchObject({ 'http.request.method': 'GET', 'http.response.status_code': 200 });
    for (const name of ['limits.decide', 'pool.attempt']) {
      const child = spans().find((span) => span.name === name)!;
      expect(child.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    }
    expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
    expect(listener.logs.at(-1)?.['traceId']).toBe(traceId);
  });

  it('names the operation of a JSON-RPC call and marks only faults of this side as errors', async () => {
    failure = new PoolError('no_lite_server');
    await rpc(listener.url, { method: 'getMasterchainInfo' });
    await rpc(listener.url, { method: 'nope' });
    await expect.poll(() => root('POST getMasterchainInfo')?.status.code).toBe(2);
    expect(root('POST getMasterchainInfo')?.attributes['error.type']).toBe('no_lite_server');
    await expect.poll(() => root('POST jsonRPC')?.status.code).toBe(0);
  });

  it('never holds a key', async () => {
    await request(`${listener.url}/api/v2/getMasterchainInfo?api_key=verysecret`, {
      headers: { 'x-api-key': 'verysecret' },
    });
    await expect.poll(() => spans().length).toBe(3);
    expect(JSON.stringify(spans().map(({ name, attributes }) => [name, attributes]))).not.toContain('verysecret');
  });
});

describe('traceparent', () => {
  it.each([
    ['noise', 'noise'],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${traceId}-${spanId}-01`],
    ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['a short id', `00-${traceId.slice(1)}-${spanId}-01`],
  ])('is ignored when it is %s', (_what, traceparent) => {
    expect(trace.getSpanContext(parentContext({ traceparent }))).toBeUndefined();
  });

  it.each([
    ['sampled', '00', '01', '', 1],
    ['not sampled', '00', '00', '', 0],
    ['of a later version', 'cc', '03', '-what-the-future-brings', 1],
  ])('is taken when it is %s', (_what, version, flags, rest, traceFlags) => {
    const context = parentContext({
      traceparent: `${version}-${traceId}-${spanId}-${flags}${rest}`,
      tracestate: 'a=b',
    });
    const parent = trace.getSpanContext(context);
    expect(parent).toMatchObject({ traceId, spanId, traceFlags, isRemote: true });
    expect(parent?.traceState?.get('a')).toBe('b');
  });
});
