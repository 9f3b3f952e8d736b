import type { IncomingHttpHeaders } from 'node:http';

import {
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

/** Version 00 of W3C Trace Context. A later version starts the same way and may be longer. */
const traceparent = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Longest `tracestate` that is passed on (W3C Trace Context 3.3.1.5). */
const TRACE_STATE_MAX = 512;

/** The caller's span as parent, when it sent a valid `traceparent`. */
export function parentContext(headers: IncomingHttpHeaders): Context {
  const header = headers['traceparent'];
  const match = typeof header === 'string' ? traceparent.exec(header) : null;
  if (match === null) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = '00'] = match;
  const state = headers['tracestate'];
  const spanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(typeof state === 'string' && state.length <= TRACE_STATE_MAX && { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
}

/** Starts the root span of a request. Its attributes follow OpenTelemetry's HTTP conventions. */
export function startRequestSpan(
  tracer: Tracer,
  request: { readonly method: string; readonly shownUrl: () => string; readonly headers: IncomingHttpHeaders },
): Span {
  const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parentContext(request.headers));
  if (!span.isRecording()) return span;
  return span.setAttributes({ 'http.request.method': request.method, 'url.full': request.shownUrl() });
}

function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Runs `work` in a child span that ends with it. */
export async function inChildSpan<T>(
  tracer: Tracer,
  parent: Span,
  name: string,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  // A request that is not traced has no child spans.
  if (!isSampled(parent)) return work(parent);
  const span = tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, parent));
  try {
    return await work(span);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Ends a request's span with its outcome. Only faults of the service count as errors. */
export function endRequestSpan(
  span: Span,
  facts: { readonly name: string; readonly status: number; readonly code: string | undefined },
): void {
  span.updateName(facts.name);
  span.setAttribute('http.response.status_code', facts.status);
  if (facts.code !== undefined) span.setAttribute('error.type', facts.code);
  if (facts.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
