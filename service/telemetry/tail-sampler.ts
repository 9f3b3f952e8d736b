import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Reports whether a finished trace is worth exporting; the root is the last span. Called when all spans made here have ended. */
export type ShouldExport = (spans: readonly ReadableSpan[]) => boolean;

/** Most traces in progress. Beyond the bound the oldest are exported undecided. */
const TRACES_MAX = 1000;

/** Most buffered spans of one trace. A trace with more is exported. */
const SPANS_MAX = 1000;

/** Buffers the spans of each trace until its root ends, then exports or drops them all. */
export function createTailSampler(next: SpanProcessor, keep: ShouldExport): SpanProcessor {
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
      if (spans.length > SPANS_MAX) pass(traceId);
      else if (traces.size > TRACES_MAX && oldest !== undefined) pass(oldest);
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
