import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Whether a trace is worth keeping, asked when all of it that is made here has ended; the root is the last span. */
export type KeepTrace = (spans: readonly ReadableSpan[]) => boolean;

/** Traces under way; past this the oldest are passed on unjudged. */
const tracesMax = 1000;

/** Spans of one trace that are held back; more of them make it worth looking at. */
const spansMax = 1000;

/** Holds the spans of each trace back until its root ends, and passes them on or drops them all. */
export function createTail(next: SpanProcessor, keep: KeepTrace): SpanProcessor {
  const traces = new Map<string, ReadableSpan[]>();

  function pass(traceId: string): void {
    for (const span of traces.get(traceId) ?? []) next.onEnd(span);
    traces.delete(traceId);
  }

  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd(span) {
      const { traceId } = span.spanContext();
      const spans = traces.get(traceId) ?? [];
      spans.push(span);
      traces.set(traceId, spans);
      const { parentSpanContext: parent } = span;
      if (parent === undefined || parent.isRemote === true) {
        if (keep(spans)) pass(traceId);
        else traces.delete(traceId);
        return;
      }
      const [oldest] = traces.keys();
      if (spans.length > spansMax) pass(traceId);
      else if (traces.size > tracesMax && oldest !== undefined) pass(oldest);
    },
    async forceFlush() {
      for (const traceId of traces.keys()) pass(traceId);
      await next.forceFlush();
    },
    async shutdown() {
      for (const traceId of traces.keys()) pass(traceId);
      await next.shutdown();
    },
  };
}
